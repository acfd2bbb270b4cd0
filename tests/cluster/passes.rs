//! The short pass over every store, and that it fails where it must. The long one is the program
//! itself; see `cluster/main.rs`.

use std::process::Command;

use mcp_tests::servers::{Kind, Server};

/// Runs the program on the store at `url`: whether it found everything in order, and what it says.
fn cluster(url: &str, options: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cluster"));
    command.args(["--worker", env!("CARGO_BIN_EXE_cluster-worker"), "--store", url]);
    command.args(["--kills", "5", "--messages", "2000", "--pause-ms", "1000"]).args(options);
    let output = command.output().expect("the program was built");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{said}{}", String::from_utf8_lossy(&output.stderr));
    (output.status.success(), said)
}

#[test]
fn nobody_is_harmed_where_workers_over_sqlite_are_killed() {
    let (is_fine, _) = cluster("sqlite", &[]);
    assert!(is_fine);
}

#[test]
fn nobody_is_harmed_where_workers_over_redis_are_killed() {
    let Some(server) = Server::start(Kind::Redis) else { return };
    let (is_fine, _) = cluster(&server.url(), &[]);
    assert!(is_fine);
}

#[test]
fn nobody_is_harmed_where_workers_over_postgres_are_killed() {
    let Some(server) = Server::start(Kind::Postgres) else { return };
    let (is_fine, _) = cluster(&server.url(), &[]);
    assert!(is_fine);
}

#[test]
fn a_store_that_saves_whatever_the_version_is_noticed() {
    let (is_fine, said) = cluster("sqlite", &["--blind"]);
    assert!(!is_fine);
    for broken in ["FAULT (iv)", "FAULT (v)", "FAULT (ii)"] {
        assert!(said.contains(broken), "{broken}");
    }
}
