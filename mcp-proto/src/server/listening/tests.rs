use std::sync::Arc;

use super::*;
use crate::model::{Catalog, ClientProfile, Implementation, Json, Resource};
use crate::revision::Revision;
use crate::server::{Endpoint, Output};
use crate::time::Instant;

const URI: &str = "a:b";

fn core() -> Core {
    let mut catalog = Catalog::new(Implementation::new("demo", "1"));
    catalog.insert_resource(Resource::new(URI, "b"));
    catalog.features.subscribe = true;
    Core::new(Endpoint::builder(Arc::new(catalog)).build(), Instant::ZERO, 0)
}

fn session(revision: Revision, subscriptions: &[&str]) -> Session {
    Session {
        version: revision.adapter().version.into(),
        client: ClientProfile::new(None, None),
        owner: None,
        is_new: false,
        subscriptions: Some(Json::of(subscriptions).unwrap()),
        values: None,
    }
}

/// The one effect that was asked for since the last time.
fn effect(core: &mut Core) -> Effect {
    let mut effects = Vec::new();
    while let Some(output) = core.poll_output() {
        if let Output::Effect(_, effect) = output {
            effects.push(effect);
        }
    }
    assert_eq!(effects.len(), 1, "{effects:?}");
    effects.remove(0)
}

fn polled(topic: &str, messages: &[Bytes]) -> Polled {
    let messages: Vec<_> =
        (1..).zip(messages).map(|(place, text)| (Cursor::from(place), text.clone())).collect();
    let next = Cursor::from(messages.len() as u64);
    let read = Read::Messages { messages, next, lost: false };
    Polled { topic: topic.into(), read }
}

/// Another worker subscribes for the session and acknowledges it, and then the resource changes:
/// the stream may read of both at once.
#[test]
fn what_changes_right_after_a_subscription_elsewhere_is_heard() {
    let update = Change::Updated(URI.into()).encode();
    let other = Change::Updated("a:other".into()).encode();
    let HubOp::Publish { message: refresh, .. } = Control::Refresh.publish("s".into()) else {
        panic!("it publishes")
    };
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18] {
        for (changes, control_first) in [
            (vec![update.clone()], false),
            (vec![update.clone()], true),
            (vec![other.clone(), update.clone(), other.clone()], false),
        ] {
            let mut core = core();
            let (adapter, none) = (*revision.adapter(), session(revision, &[]));
            let control = ("s".to_owned(), Cursor::from(0));
            let stream = ("s".to_owned(), &none);
            let after = Some(Cursor::from(0));
            let mut listening =
                Listening::by_session(&mut core, adapter, stream, control, "x".into(), after);
            // Subscriptions of another worker's may have come since the record was read.
            let asked = effect(&mut core);
            assert!(matches!(asked, Effect::Session(SessionOp::Get { .. })), "{asked:?}");
            let record = |session: &Session, version| {
                let record = crate::store::Record { data: session.encode(), version };
                Some(Reply::Record(Some(record)))
            };
            listening.settle(&mut core, record(&none, 1));
            let Effect::Hub(HubOp::Poll { topics, .. }) = effect(&mut core) else { panic!() };
            let topic = topics[0].0.clone();
            let mut both =
                vec![polled(&topic, &changes), polled("s", std::slice::from_ref(&refresh))];
            if control_first {
                both.reverse();
            }
            let heard = listening.settle(&mut core, Some(Reply::Polled(both)));
            assert!(heard.messages.is_empty() && !heard.ended, "nothing is judged yet");
            let asked = effect(&mut core);
            assert!(matches!(asked, Effect::Session(SessionOp::Get { .. })), "{asked:?}");
            listening.settle(&mut core, record(&session(revision, &[URI]), 2));
            let Effect::Hub(HubOp::Poll { topics, .. }) = effect(&mut core) else { panic!() };
            assert_eq!(topics[0].1, Cursor::from(0), "changes are read again");
            let again = vec![polled(&topic, &changes)];
            let heard = listening.settle(&mut core, Some(Reply::Polled(again)));
            assert_eq!(heard.messages.len(), 1, "{revision:?}");
            let Effect::Hub(HubOp::Poll { topics, .. }) = effect(&mut core) else { panic!() };
            assert_eq!(topics[0].1, Cursor::from(changes.len() as u64), "and only once");
        }
    }
}
