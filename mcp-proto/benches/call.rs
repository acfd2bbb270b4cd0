//! One `tools/call`, HTTP bytes to HTTP bytes, against parsing its body as a `Value`.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // it measures

#[path = "../tests/fixture/measured.rs"]
mod measured;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use measured::{Served, lists};

fn call(criterion: &mut Criterion) {
    let mut served = Served::call();
    criterion.bench_function("tools/call, 2026-07-28", |bencher| {
        bencher.iter(|| served.serve());
    });
    let mut in_session = Served::call_in_session();
    criterion.bench_function("tools/call in a session, 2025-11-25", |bencher| {
        bencher.iter(|| in_session.serve());
    });
    for tools in [50, 500] {
        let mut list = lists(tools);
        criterion.bench_function(&format!("tools/list of {tools}"), |bencher| {
            bencher.iter(|| list.serve());
        });
    }
    let body = Served::call().body().to_vec();
    criterion.bench_function("from_slice::<Value> of the call's body", |bencher| {
        bencher.iter(|| parse(&body));
    });
    compare("tools/call, 2026-07-28", Served::call());
    compare("tools/call in a session, 2025-11-25", Served::call_in_session());
}

fn parse(body: &[u8]) {
    let value: serde_json::Value = serde_json::from_slice(black_box(body)).expect("JSON");
    black_box(value);
}

/// Prints what a call costs in units of parsing its body: the median of alternating rounds.
fn compare(name: &str, mut served: Served) {
    let body = served.body().to_vec();
    let mut ratios: Vec<f64> = (0..41)
        .map(|_| {
            let call = time(|| served.serve());
            let parse = time(|| parse(&body));
            call.as_secs_f64() / parse.as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!("{name}: {:.2} x from_slice::<Value> of its body", ratios[ratios.len() / 2]);
}

fn time(mut act: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..5_000 {
        act();
    }
    start.elapsed()
}

criterion_group!(benches, call);
criterion_main!(benches);
