//! One table of what comes of questions: kind by mechanism by transport by what the client does, by
//! revision. Each message of HTTP reaches another worker than the one before.
//!
//! The table is in `table.md`, for people to read.
//! `ASKING=write cargo test -p mcp-proto --features testing --test asking` writes it anew; every
//! cell that changed is then to be held against the specification.

mod client;
#[path = "../fixture/mod.rs"]
mod fixture;
mod service;

use std::fmt::Write as _;

use client::{Does, conversation};
use fixture::{Way, table};
use mcp_proto::revision::{AskBy, Revision};
use service::Kind;

const MECHANISMS: [(AskBy, &str); 3] =
    [(AskBy::Push, "push"), (AskBy::Retry, "retry"), (AskBy::Arguments, "arguments")];

#[test]
fn every_question_comes_to_what_the_table_says() {
    let written = table::compare("tests/asking/table.md", "ASKING", &render());
    is_total(&written);
}

/// No cell is blank: it has an outcome, or the reason that it cannot exist.
fn is_total(table: &str) {
    let rows = table::rows(table);
    let expected = Kind::ALL.len() * MECHANISMS.len() * Way::ALL.len() * Does::ALL.len();
    assert_eq!(rows.len(), expected);
    let cells: Vec<_> = rows.iter().flat_map(|row| &row[4..]).collect();
    assert_eq!(cells.len(), expected * Revision::ALL.len());
    assert!(cells.iter().all(|cell| !cell.is_empty()));
    let ran = cells.iter().filter(|cell| !cell.starts_with('-')).count();
    println!("{} cells, {ran} of them conversations", cells.len());
    assert!(ran > 200);
}

fn render() -> String {
    let mut table = String::from(INTRODUCTION);
    let _ = write!(table, "| {:8} | {:9} | {:8} | {:10} ", "kind", "mechanism", "way", "client");
    for revision in Revision::ALL {
        let _ = write!(table, "| {:24} ", revision.to_string());
    }
    table += "|\n|---|---|---|---";
    table += &"|---".repeat(Revision::ALL.len());
    table += "|\n";
    for kind in Kind::ALL {
        for (by, mechanism) in MECHANISMS {
            for way in Way::ALL {
                for does in Does::ALL {
                    let _ = write!(
                        table,
                        "| {:8} | {mechanism:9} | {:8} | {:10} ",
                        kind.name(),
                        way.name(),
                        does.name()
                    );
                    for revision in Revision::ALL {
                        let cell = cell(kind, by, way, does, revision);
                        let _ = write!(table, "| {cell:24} ");
                    }
                    table += "|\n";
                }
            }
        }
    }
    table
}

const INTRODUCTION: &str = "\
# What comes of questions

Each cell: what the handler was told, or what the client was. After a dash: why there is no such
conversation.

";

fn cell(kind: Kind, by: AskBy, way: Way, does: Does, revision: Revision) -> String {
    let adapter = revision.adapter();
    if way == Way::Sse && !adapter.has_handshake {
        return "- no HTTP+SSE".into();
    }
    let own = adapter.ask_by(&kind.question());
    if own != by {
        let (_, own) = MECHANISMS.into_iter().find(|(it, _)| *it == own).expect("a mechanism");
        return format!("- asks by {own}");
    }
    match (by, does) {
        (AskBy::Retry | AskBy::Arguments, Does::Error) => "- only answers can come".into(),
        (AskBy::Arguments, Does::Undeclared) => "- needs no capability".into(),
        _ => conversation(kind, way, does, revision),
    }
}
