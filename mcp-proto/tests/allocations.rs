//! How often a call allocates: every `alloc` and `realloc` from HTTP bytes to HTTP bytes, handler
//! included, on a connection that has served the same before. The requests are files, so that
//! what is measured does not change unseen.

#[path = "fixture/measured.rs"]
mod measured;

use measured::{Served, lists};

/// Calls before the one that counts.
const WARM_UP: usize = 3;

fn allocations(mut served: Served) -> u64 {
    for _ in 0..WARM_UP {
        served.serve();
    }
    let counted = allocation_counter::measure(|| served.serve());
    assert!(served.sent().starts_with(b"HTTP/1.1 200"), "{}", served.text());
    counted.count_total
}

fn at_most(name: &str, served: Served, most: u64) {
    let count = allocations(served);
    println!("{name}: {count} allocations");
    assert!(count <= most, "{name}: {count} allocations, at most {most} are allowed");
}

#[test]
fn a_call_without_a_session_allocates_at_most_four_times() {
    at_most("2026-07-28 tools/call", Served::call(), 4);
}

#[test]
fn a_call_in_a_session_allocates_at_most_eight_times() {
    at_most("2025-11-25 tools/call in a session", Served::call_in_session(), 8);
}

#[test]
fn a_list_costs_the_same_whatever_its_length() {
    for tools in [50, 500] {
        at_most(&format!("2026-07-28 tools/list of {tools}"), lists(tools), 2);
    }
}
