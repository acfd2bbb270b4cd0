use std::sync::{Arc, Mutex};

use super::super::world::{Port, VirtualTime};
use super::super::*;

#[test]
fn what_a_registry_warns_of_is_told_to_the_operator_and_shown_with_the_server() {
    for (names, count) in [(&["fine"][..], 0), (&["with space"], 1), (&["a/b", "国", "fine"], 2)] {
        let declare = |registry: Registry, name: &&str| {
            registry.tool(tool((*name).to_owned(), || async { "done" }))
        };
        let service = names.iter().fold(Registry::new("test", "1"), declare).build();
        let service = service.expect("odd names are allowed");
        let told = Arc::new(Mutex::new(Vec::new()));
        let notices = Arc::clone(&told);
        let builder = HttpBuilder::new(VirtualTime::default(), service)
            .on_notice(move |line| notices.lock().unwrap().push(line.to_owned()));
        let server = builder.listen(Port::default()).expect("a port");
        let told = told.lock().unwrap();
        assert_eq!(told.len(), count, "{told:?}");
        let shown = server.to_string();
        assert_eq!(shown.lines().filter(|line| line.starts_with("warning: ")).count(), count);
        assert!(told.iter().all(|line| shown.contains(line.as_str())), "{shown}");
    }
}
