//! One table of what is wrong with what peers send: input by transport by revision, with the
//! exact status, JSON-RPC code (or silence) and whether the connection lives.
//!
//! The inputs are in `inputs.rs`, the table in `table.md`, for people to read.
//! `BAD_INPUTS=write cargo test -p mcp-proto --features testing --test bad_inputs` writes the
//! table anew; every cell that changed is then to be held against the specification.

#[path = "../fixture/mod.rs"]
mod fixture;
mod inputs;

use core::time::Duration;
use std::fmt::Write as _;

use fixture::{Peer, Wire, application, builder, table};
use inputs::{INPUTS, Step, Steps};
use mcp_proto::model::Call;
use mcp_proto::revision::Revision;
use mcp_proto::server::{Connection, Machine, Stdio};
use mcp_proto::testing::{Script, World};
use mcp_proto::time::Instant;

/// What stands where an input makes no sense on a transport.
const NOT_APPLICABLE: &str = "n/a";

#[test]
fn every_bad_input_is_answered_as_the_table_says() {
    let written = table::compare("tests/bad_inputs/table.md", "BAD_INPUTS", &render());
    is_total(&written);
}

/// No cell is blank, every input has a row for each transport, every row a cell per revision.
fn is_total(table: &str) {
    let rows = table::rows(table);
    assert_eq!(rows.len(), INPUTS.len() * Wire::ALL.len());
    for row in &rows {
        assert_eq!(row.len(), 2 + Revision::ALL.len(), "{row:?}");
        assert!(row.iter().all(|cell| !cell.is_empty()), "{row:?}");
    }
    let cells = rows.iter().flat_map(|row| &row[2..]);
    println!("{} inputs, {} cells", INPUTS.len(), cells.clone().count());
    assert!(cells.clone().any(|cell| cell.ends_with("lives")));
}

fn render() -> String {
    let mut rows = vec![vec!["input".to_owned(), "transport".to_owned()]];
    rows[0].extend(Revision::ALL.iter().map(ToString::to_string));
    for (name, input) in INPUTS {
        for wire in Wire::ALL {
            let mut row = vec![(*name).to_owned(), wire.name().to_owned()];
            row.extend(Revision::ALL.map(|revision| cell(revision, wire, *input)));
            rows.push(row);
        }
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut table = String::from(INTRODUCTION);
    for (index, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(table, "| {cell:width$} ");
        }
        table += "|\n";
        if index == 0 {
            for width in &widths {
                let _ = write!(table, "|{}", "-".repeat(width + 2));
            }
            table += "|\n";
        }
    }
    table
}

const INTRODUCTION: &str = "\
# What becomes of bad inputs

Each cell: HTTP status (`http` only), what came back (`result`, a JSON-RPC error code, `silent`),
and whether the connection or process goes on. `n/a` where the transport has no such thing.

";

fn cell(revision: Revision, wire: Wire, input: fn(&mut Peer) -> Steps) -> String {
    let mut peer = Peer::new(revision, wire);
    let (now, application) = (Instant::ZERO, application as fn(&Call) -> Script);
    let endpoint = builder().build();
    match wire {
        Wire::Http => {
            let make = || World::new(Connection::new(endpoint.clone(), now), application);
            observe(&mut peer, make, input)
        }
        Wire::Stdio => {
            let make = || World::new(Stdio::new(endpoint.clone(), now), application);
            observe(&mut peer, make, input)
        }
    }
}

fn observe<M: Machine>(
    peer: &mut Peer,
    make: impl Fn() -> World<M, fn(&Call) -> Script>,
    input: fn(&mut Peer) -> Steps,
) -> String {
    let mut world = make();
    if peer.adapter().has_handshake {
        let hello = peer.hello();
        let reply = exchange(&mut world, &peer.frame(&hello));
        peer.session = reply
            .split_once("Mcp-Session-Id: ")
            .and_then(|(_, rest)| rest.split_once('\r'))
            .map(|(session, _)| session.to_owned());
        exchange(&mut world, &peer.frame(&peer.initialized()));
    }
    let (mut heard, mut held, mut has_ended) = (String::new(), "", false);
    let Some(steps) = input(peer) else { return NOT_APPLICABLE.into() };
    for step in steps {
        match step {
            Step::Restart => world = make(),
            Step::Send(bytes) => heard += &exchange(&mut world, &bytes),
            Step::Wait(duration) => {
                world.run_for(duration);
                heard += &text(world.take_sent());
            }
            Step::Read(reads) => {
                if reads && world.waiting() > 0 {
                    held = "held back, ";
                }
                world.set_reading(reads);
                heard += &exchange(&mut world, b"");
            }
            Step::Eof => {
                has_ended = true;
                world.send_eof();
                heard += &exchange(&mut world, b"");
            }
        }
    }
    let lives = !has_ended && {
        let ping = if peer.adapter().has_handshake { "ping" } else { "server/discover" };
        let ping = peer.request_as("99", ping, "", "");
        exchange(&mut world, &peer.frame(&ping)).contains("\"id\":99,\"result\"")
    };
    format!("{held}{} {}", verdict(&heard), if lives { "lives" } else { "closes" })
}

fn exchange<M: Machine>(world: &mut World<M, fn(&Call) -> Script>, bytes: &[u8]) -> String {
    world.send(bytes);
    world.run();
    text(world.take_sent())
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The statuses, codes and results in what was heard, in order; equal ones are counted.
fn verdict(heard: &str) -> String {
    let mut found = Vec::new();
    let mut rest = heard;
    while let Some((at, mark)) = next_mark(rest) {
        rest = &rest[at + mark.len()..];
        let value = |end: &[char]| rest.split(end).next().unwrap_or_default().to_owned();
        found.push(match mark {
            STATUS => value(&[' ']),
            ERROR => value(&[',', '}']),
            _ => "result".to_owned(),
        });
    }
    let is_silent = !found.iter().any(|it| it == "result" || it.starts_with('-'));
    found.extend(is_silent.then(|| "silent".to_owned()));
    let most = found.len();
    let unique: Vec<_> = {
        let mut unique = found.clone();
        unique.dedup();
        unique.sort();
        unique.dedup();
        unique
    };
    if most > 8 {
        format!("{} x {}", unique.join(" "), most / unique.len())
    } else {
        found.join(" ")
    }
}

const STATUS: &str = "HTTP/1.1 ";
const ERROR: &str = "\"error\":{\"code\":";
const RESULT: &str = "\"result\":";

fn next_mark(text: &str) -> Option<(usize, &'static str)> {
    [STATUS, ERROR, RESULT].into_iter().filter_map(|mark| Some((text.find(mark)?, mark))).min()
}

/// Long enough for any deadline of a request.
const LONG: Duration = Duration::from_secs(40);
