//! What the architecture promises and the compiler cannot check: nothing outside of the revision
//! module names or compares a version, and the core neither does more than compute nor depends on
//! what does.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn nothing_outside_of_the_revisions_names_or_compares_a_version() {
    let (mut files, mut offences) = (0, Vec::new());
    for path in sources() {
        let source = std::fs::read_to_string(&path).expect("a source file");
        files += 1;
        for (number, line) in code(&source) {
            if let Some(offence) = offence(line) {
                offences.push(format!("{}:{number}: {offence}: {}", path.display(), line.trim()));
            }
        }
    }
    println!("{files} source files");
    assert!(files > 20, "the sources were not found");
    assert!(
        offences.is_empty(),
        "branch on what an adapter says instead:\n{}",
        offences.join("\n")
    );
}

#[test]
fn the_check_knows_an_offence_when_it_sees_one() {
    for line in [
        r#"if version == "2025-06-18" {"#,
        "if adapter.version >= other {",
        "match revision {",
        "Revision::V2025_06_18 => true,",
        "if revision == Revision::ALL[0] {",
        "matches!(revision, _)",
        "match adapter.version {",
        "if session.version != adapter.version {",
    ] {
        assert!(offence(line).is_some(), "{line}");
    }
    for line in [
        "version: adapter.version.into(),",
        "adapters.by_version(&session.version)",
        "if live.record.version == expected {",
        "if adapter.has_handshake {",
        "fn version(&self) -> &str {",
        "pub fn new(adapters: AdapterSet, revision: Revision) -> Self {",
    ] {
        assert_eq!(offence(line), None, "{line}");
    }
}

#[test]
fn the_core_reaches_for_nothing_of_the_world() {
    let mut offences = Vec::new();
    for path in sources().into_iter().filter(|path| is_of_the_core(path)) {
        let source = std::fs::read_to_string(&path).expect("a source file");
        for (number, line) in code(&source) {
            if let Some(what) = reaches_for(line) {
                offences.push(format!("{}:{number}: {what}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(offences.is_empty(), "that is a driver's to do:\n{}", offences.join("\n"));
    for line in ["use std::{fs, io};", "std::thread::spawn(|| ())", "let now = Instant::now();"] {
        assert!(reaches_for(line).is_some(), "{line}");
    }
    for line in ["use std::io;", "use core::net::SocketAddr;", "use crate::time::Instant;"] {
        assert_eq!(reaches_for(line), None, "{line}");
    }
}

#[test]
fn the_core_depends_on_no_runtime_clock_or_random_source() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "-p", "mcp-proto", "--no-default-features", "-e", "normal"])
        .args(["--prefix", "none", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).expect("text");
    let crates: Vec<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains(&"serde_json"), "{tree}");
    let impure = [
        "tokio",
        "async-",
        "smol",
        "futures",
        "mio",
        "polling",
        "rand",
        "getrandom",
        "fastrand",
        "tracing",
        "log",
        "chrono",
        "time",
        "jiff",
    ];
    let is = |name: &str, banned: &str| {
        name == banned
            || name
                .strip_prefix(banned)
                .is_some_and(|rest| banned.ends_with('-') || rest.starts_with(['-', '_']))
    };
    let found: Vec<_> =
        crates.iter().filter(|name| impure.iter().any(|banned| is(name, banned))).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// The service layer is held to it as well: it has futures, and still no world. Three files have what
/// every driver does alike with its process: how a server's is to be started, which takes the
/// environment, though it starts none (`child.rs`, beside it, signals one that a driver started); a
/// log that waits on a thread of its own; and standard streams that are the protocol's alone.
const OF_THE_DRIVERS: [&str; 3] =
    ["service/client/process.rs", "service/diagnostics.rs", "service/standard_streams.rs"];

fn is_of_the_core(path: &Path) -> bool {
    path.starts_with(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
        && !OF_THE_DRIVERS.iter().any(|of_the_drivers| path.ends_with(of_the_drivers))
}

/// What of the world a line of code uses by itself, rather than ask for it.
fn reaches_for(line: &str) -> Option<&'static str> {
    let of_std = ["net", "fs", "env", "thread", "process", "time"];
    let named = |module: &&&str| {
        let listed = line.strip_prefix("use std::{").is_some_and(|list| {
            list.split(['{', '}', ',', ';'])
                .any(|item| item.trim().split("::").next() == Some(module))
        });
        listed
            || line.contains(&format!("std::{module}::"))
            || line.contains(&format!("std::{module};"))
    };
    let calls = ["Instant::now(", "SystemTime", "println!", "print!(", "dbg!"];
    of_std.iter().find(named).or_else(|| calls.iter().find(|call| line.contains(**call))).copied()
}

/// What holds a version of the protocol. (A stored record's version counts its changes.)
const VERSIONS: &[&str] =
    &["adapter.version", "adapter().version", "session.version", "protocol_version", "revision"];

/// Why a line of code is against the rule.
fn offence(line: &str) -> Option<&'static str> {
    let compares = |of: &str| {
        let operators = ["==", "!=", ">=", "<=", " > ", " < "];
        operators.iter().any(|operator| {
            line.split_once(operator).is_some_and(|(left, right)| {
                let (left, right) = (left.trim_end(), right.trim_start());
                let operand = right.split([' ', ')', '{', ';', ',']).next().unwrap_or_default();
                left.ends_with(of) || operand.ends_with(of)
            })
        })
    };
    let matches = |of: &str| {
        let after = |word: &str| line.split_once(word).map(|(_, rest)| rest.trim_start());
        let scrutinee = after("match ").or_else(|| after("matches!("));
        scrutinee
            .and_then(|rest| rest.split([' ', ',', '{']).next())
            .is_some_and(|operand| operand.ends_with(of))
    };
    if has_date(line) {
        Some("a version by name")
    } else if line.contains("Revision::V") {
        Some("a revision by name")
    } else if line.contains("Revision::") && (line.contains("==") || line.contains("!=")) {
        Some("a revision compared")
    } else if VERSIONS.iter().any(|of| compares(of) || matches(of)) {
        Some("a version compared")
    } else {
        None
    }
}

/// `dddd-dd-dd`
fn has_date(line: &str) -> bool {
    let shape = |window: &[u8]| {
        window.iter().enumerate().all(|(index, byte)| match index {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    };
    line.as_bytes().windows(10).any(shape)
}

/// The numbered lines of a file, without comments and without the tests at its end.
fn code(source: &str) -> impl Iterator<Item = (usize, &str)> {
    source
        .lines()
        .enumerate()
        .take_while(|(_, line)| line.trim() != "mod tests {")
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(index, line)| (index + 1, line.split(" // ").next().unwrap_or_default()))
}

/// Every source file of the workspace's members, except for the revisions, the tests (the member of
/// that name is nothing else), and HTTP, whose versions are others.
fn sources() -> Vec<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let mut found = Vec::new();
    let members = entries(workspace).filter(|member| !member.ends_with("tests"));
    let mut folders: Vec<_> = members.map(|member| member.join("src")).collect();
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_test = name == "tests" || name.ends_with("tests.rs");
            let is_exempt = ["mcp-proto/src/revision", "mcp-proto/src/frame/http1"]
                .iter()
                .any(|exempt| path.ends_with(exempt));
            if is_test || is_exempt {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    found
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.expect("a readable folder").path())
}
