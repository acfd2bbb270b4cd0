//! Our client and our server together, in virtual time: for every revision, every way, and links
//! of all kinds, every call ends exactly once, with a result or an error that says whether it may
//! have run, and the pair ends quiet.

mod asking;
mod breaking;
mod calls;
mod judge;
mod listening;
mod prompts;
mod sessions;

use core::time::Duration;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use mcp_proto::client::CallId;
use mcp_proto::model::{FailureKind, LogLevel, SamplingMessage, elicit, list_roots, sample};
use mcp_proto::revision::Revision;
use mcp_proto::service::{Args, Error, Exchange, Registry, Service, form, prompt, schemars, tool};
use mcp_proto::testing::{Link, Pair, VirtualTime, Way};
use serde_json::json;

const SECOND: Duration = Duration::from_secs(1);

/// Names one call among all calls of a run.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nth {
    n: u64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct When {
    after: String,
    #[serde(default)]
    notify: bool,
}

/// How often each call's handler was begun.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<BTreeMap<u64, usize>>>);

impl Ledger {
    fn note(&self, n: u64) {
        *self.0.lock().unwrap().entry(n).or_default() += 1;
    }

    fn begun(&self, n: u64) -> usize {
        self.0.lock().unwrap().get(&n).copied().unwrap_or_default()
    }
}

/// A server with one of everything that takes its time, asks, or fails.
fn service(time: &VirtualTime, ledger: &Ledger) -> Service {
    let (clock, begun) = (time.clone(), ledger.clone());
    let note = move |n| begun.note(n);
    let (echo, slow, away, never, fails) =
        (note.clone(), note.clone(), note.clone(), note.clone(), note.clone());
    let (deploy, plan, think, look) = (note.clone(), note.clone(), note.clone(), note);
    let away_clock = clock.clone();
    Registry::new("demo", "1")
        .page_size(3)
        .tool(tool("echo", move |Args(Nth { n }): Args<Nth>| {
            echo(n);
            async move { n.to_string() }
        }))
        .tool(
            tool("slow", move |Args(Nth { n }): Args<Nth>, ex: Exchange| {
                slow(n);
                let clock = clock.clone();
                async move {
                    for step in 1..=3 {
                        ex.progress(step, 3);
                        ex.log(LogLevel::Info, step);
                        clock.sleep(SECOND).await;
                    }
                    n.to_string()
                }
            })
            .streaming(),
        )
        .tool(tool("away", move |Args(Nth { n }): Args<Nth>, ex: Exchange| {
            away(n);
            let clock = away_clock.clone();
            async move {
                ex.close_stream();
                clock.sleep(2 * SECOND).await;
                n.to_string()
            }
        }))
        .tool(tool("never", move |Args(Nth { n }): Args<Nth>| {
            never(n);
            core::future::pending::<String>()
        }))
        .tool(tool("fails", move |Args(Nth { n }): Args<Nth>| {
            fails(n);
            async move { Err::<String, _>(Error::protocol(FailureKind::InvalidParams, "no")) }
        }))
        .tool(
            tool("deploy", move |Args(Nth { n }): Args<Nth>, ex: Exchange| {
                deploy(n);
                async move {
                    let sure = ex.ask("sure", elicit(format!("Deploy {n}?"))).await?;
                    Ok::<_, Error>(sure.action().as_str().to_owned())
                }
            })
            .asks(),
        )
        .tool(
            tool("plan", move |Args(Nth { n }): Args<Nth>, ex: Exchange| {
                plan(n);
                async move {
                    let sure = ex.ask("sure", elicit("Plan?")).await?;
                    if !sure.accepted() {
                        return Ok::<_, Error>("no plan".to_owned());
                    }
                    let when = ex.ask("when", form::<When>("When?")?).await?;
                    let When { after, notify } = when.content()?;
                    Ok(format!("{n} after {after}, notify: {notify}"))
                }
            })
            .asks(),
        )
        .tool(tool("think", move |Args(Nth { n }): Args<Nth>, ex: Exchange| {
            think(n);
            async move {
                let thought = ex.ask("thought", sample(SamplingMessage::user("So?"), 100)).await?;
                let said = thought.sampled().map_err(|bad| Error::tool(bad.to_string()))?;
                Ok::<_, Error>(
                    said.content.iter().filter_map(|it| it.as_text()).collect::<String>(),
                )
            }
        }))
        .tool(tool("look", move |Args(Nth { n }): Args<Nth>, ex: Exchange| {
            look(n);
            async move {
                let roots = ex.ask("roots", list_roots()).await?;
                let roots = roots.roots().map_err(|bad| Error::tool(bad.to_string()))?;
                Ok::<_, Error>(format!("{} roots", roots.roots.len()))
            }
        }))
        .resource("a://b", || async { "text" })
        .prompt(prompt("hi", || async { "hello" }))
        .build()
        .expect("valid")
}

/// A pair, the ledger of its server, and the calls that were made.
struct Run {
    pair: Pair,
    ledger: Ledger,
    calls: Vec<(CallId, u64)>,
}

impl Run {
    fn new(revision: Revision, way: Way) -> Self {
        Self::with(revision, way, |pair| pair)
    }

    fn with(revision: Revision, way: Way, change: impl FnOnce(Pair) -> Pair) -> Self {
        let (time, ledger) = (VirtualTime::new(), Ledger::default());
        let pair = Pair::new(service(&time, &ledger)).time(&time).revision(revision).over(way);
        Self { pair: change(pair), ledger, calls: Vec::new() }
    }

    /// Calls a tool, under a number of its own.
    fn call(&mut self, tool: &str) -> CallId {
        let n = self.calls.len() as u64;
        let call = self.pair.call_tool(tool, &json!({ "n": n }));
        self.calls.push((call, n));
        call
    }

    fn text(&self, call: CallId) -> String {
        self.pair.result(call).unwrap_or_else(|error| panic!("{call}: {error}")).text()
    }

    fn number(&self, call: CallId) -> u64 {
        self.calls.iter().find(|(own, _)| *own == call).unwrap().1
    }
}

#[test]
fn a_server_whose_handlers_stay_on_one_thread_is_tested_alike() {
    let said = Rc::new(Cell::new(0));
    let told = Rc::clone(&said);
    let service = Registry::local("demo", "1")
        .tool(tool("say", move |Args(Nth { n }): Args<Nth>| {
            told.set(n);
            async { "said" }
        }))
        .build()
        .expect("valid");
    let mut pair = Pair::new(service).over(Way::Stdio);
    let call = pair.call_tool("say", &json!({ "n": 7 }));
    pair.run();
    assert_eq!((pair.result(call).unwrap().text().as_str(), said.get()), ("said", 7));
}

/// Every revision by every way that carries it.
fn everything() -> impl Iterator<Item = (Revision, Way)> {
    let carries = |revision: Revision, way| way != Way::HttpSse || revision.adapter().has_handshake;
    Revision::ALL.into_iter().flat_map(move |revision| {
        Way::ALL
            .into_iter()
            .filter(move |way| carries(revision, *way))
            .map(move |way| (revision, way))
    })
}

/// Links that lose nothing.
fn good_links() -> [Link; 4] {
    [
        Link::direct(),
        Link::bytewise(),
        Link::direct().pieces(40).delay(Duration::from_millis(20)),
        Link::direct().pieces(200).stall(20, SECOND),
    ]
}
