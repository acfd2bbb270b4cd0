//! `tests/reference.tsv` says, for every item that other libraries of this kind name, what stands
//! for it here and which test shows it. This holds the table to the sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_row_names_an_item_and_a_test_that_are_there() {
    let sources = Sources::read();
    let table = fs::read_to_string(workspace().join("tests/reference.tsv")).expect("the table");
    let mut faults = Vec::new();
    let mut counts = BTreeMap::<&str, Count>::new();
    for line in table.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let cells: Vec<_> = line.split('\t').collect();
        let &[reference, part, rust, note, proof] = cells.as_slice() else {
            faults.push(format!("{line}: {} cells", cells.len()));
            continue;
        };
        if cells.iter().any(|cell| cell.trim().is_empty()) {
            faults.push(format!("{reference}: a cell is blank ({note})"));
        }
        if rust != "-" && !sources.have_item(rust) {
            faults.push(format!("{reference}: there is no {rust}"));
        }
        let count = counts.entry(part).or_default();
        count.rows += 1;
        match proof.split_once(": ") {
            Some(("missing", _)) => count.missing += 1,
            Some(("none", _)) => count.without += 1,
            _ if rust == "-" => faults.push(format!("{reference}: a test, but no item")),
            _ => count.shown += 1,
        }
        if !proof.contains(": ") {
            let unknown = proof.split(", ").filter(|name| !sources.have_proof(name));
            faults.extend(unknown.map(|name| format!("{reference}: there is no test {name}")));
        }
    }
    for (part, Count { rows, shown, without, missing }) in &counts {
        println!(
            "part {part}: {rows} rows, {shown} shown, {without} not needed, {missing} missing"
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(counts.values().map(|count| count.rows).sum::<usize>() > 200, "rows were lost");
}

#[test]
fn the_check_knows_what_is_not_there() {
    let sources = Sources::read();
    for there in ["mcp_proto::server::Limits::hub_poll", "mcp_proto::model::Operation::Ping"] {
        assert!(sources.have_item(there), "{there}");
    }
    for gone in ["mcp_proto::model::Operation::Pong", "mcp_proto::server::Nowhere", "mcp_none::X"] {
        assert!(!sources.have_item(gone), "{gone}");
    }
    assert!(sources.have_proof("reference::the_check_knows_what_is_not_there"));
    assert!(!sources.have_proof("golden::the_check_knows_what_is_not_there"));
    assert!(!sources.have_proof("the_check_knows_nothing"));
}

#[derive(Default)]
struct Count {
    rows: usize,
    shown: usize,
    without: usize,
    missing: usize,
}

/// Every Rust file of the workspace: its path from there, and its text.
struct Sources(Vec<(String, String)>);

impl Sources {
    fn read() -> Self {
        let (mut files, mut folders) = (Vec::new(), vec![workspace()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                if path.is_dir() && name != "target" && !name.starts_with('.') {
                    folders.push(path);
                } else if name.ends_with(".rs") {
                    let text = fs::read_to_string(&path).expect("a source file");
                    let path = path.strip_prefix(workspace()).expect("a file in here");
                    files.push((path.to_string_lossy().replace('\\', "/"), text));
                }
            }
        }
        Self(files)
    }

    /// Whether `crate::module::Type::member` or `crate::module::item` is declared in that crate. A
    /// member is looked for where its type is declared or implemented.
    fn have_item(&self, path: &str) -> bool {
        let segments: Vec<_> = path.split("::").collect();
        let &[krate, .., owner, item] = segments.as_slice() else {
            return segments.len() == 2 && self.have_item(&path.replacen("::", "::-::", 1));
        };
        let folder = format!("{}/src/", krate.replace('_', "-"));
        let of_the_crate = self.0.iter().filter(|(path, _)| path.starts_with(&folder));
        let mut candidates = of_the_crate.map(|(_, text)| text).filter(|text| text.contains(item));
        let has = |text: &String, is: &dyn Fn(&str) -> bool| text.lines().any(is);
        if owner.starts_with(char::is_uppercase) {
            let owns = |line: &str| declares(line, owner) || implements(line, owner);
            candidates.any(|text| has(text, &owns) && has(text, &|line| has_member(line, item)))
        } else {
            candidates.any(|text| has(text, &|line| declares(line, item)))
        }
    }

    /// Whether a test is there by `name`, or by `file::name` or `folder::name`; or, by
    /// `doctest:path`, an example in the documentation of that file.
    fn have_proof(&self, proof: &str) -> bool {
        if let Some(file) = proof.strip_prefix("doctest:") {
            return self.0.iter().any(|(path, text)| path == file && text.contains("/// ```"));
        }
        let (place, name) = proof.rsplit_once("::").unwrap_or(("", proof));
        let functions = [format!("fn {name}("), format!("fn {name}<")];
        let is_there = |text: &str| functions.iter().any(|function| text.contains(function));
        self.0.iter().any(|(path, text)| {
            let mut parts = path.trim_end_matches(".rs").split('/');
            (place.is_empty() || parts.any(|part| part == place)) && is_there(text)
        })
    }
}

/// Whether a line of code declares an item of that name.
fn declares(line: &str, name: &str) -> bool {
    let words = ["pub ", "async ", "const ", "fn ", "struct ", "enum ", "trait ", "type ", "mod "];
    let line = line.trim_start();
    let mut rest = line;
    while let Some(shorter) = words.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = shorter;
    }
    rest.len() < line.len() && is_word(rest, name)
}

/// Whether a line of code declares a function, a field or a variant of that name.
fn has_member(line: &str, name: &str) -> bool {
    declares(line, name)
        || (name.starts_with(char::is_uppercase) && is_word(line.trim_start(), name))
}

fn is_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Whether a line of code begins an implementation for the type `name`.
fn implements(line: &str, name: &str) -> bool {
    line.strip_prefix("impl").is_some_and(|rest| {
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
    })
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").to_path_buf()
}
