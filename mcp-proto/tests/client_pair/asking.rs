//! Questions: pushed, as results, and in arguments.

use core::time::Duration;

use mcp_proto::client::{Declined, ErrorKind, Event, Ran};

use mcp_proto::revision::AskBy;
use serde_json::json;

use super::{Run, everything, good_links};

#[test]
fn questions_are_put_and_answered_alike_everywhere() {
    for (revision, way) in everything() {
        for (seed, link) in (0..).zip(good_links()) {
            let what = format!("{revision:?} {way:?} seed {seed}");
            let mut run = Run::with(revision, way, |pair| pair.link(link).seed(seed));
            let deploy = run.call("deploy");
            run.pair.run();
            assert_eq!(run.pair.asked(), ["Deploy 0?"], "{what}");
            run.pair.decline();
            run.pair.run();
            assert_eq!(run.text(deploy), "decline", "{what}");

            let plan = run.call("plan");
            run.pair.run();
            assert_eq!(run.pair.asked(), ["Plan?"], "{what}");
            run.pair.accept(&json!({}));
            run.pair.run();
            assert_eq!(run.pair.asked(), ["When?"], "{what}");
            run.pair.accept(&json!({ "after": "lunch", "notify": true }));
            run.pair.run();
            assert_eq!(run.text(plan), "1 after lunch, notify: true", "{what}");
            run.judge(&what);
        }
    }
}

#[test]
fn the_clients_model_and_roots_are_asked_wherever_the_revision_lets_them() {
    let said =
        json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "42" } });
    let roots = json!({ "roots": [{ "uri": "file:///a" }] });
    for (revision, way) in everything() {
        for (tool, asked, result, text) in
            [("think", "So?", &said, "42"), ("look", "roots/list", &roots, "1 roots")]
        {
            let what = format!("{revision:?} {way:?} {tool}");
            let mut run = Run::new(revision, way);
            let call = run.call(tool);
            run.pair.run();
            assert_eq!(run.pair.asked(), [asked], "{what}");
            run.pair.accept(result);
            run.pair.run();
            assert_eq!(run.text(call), text, "{what}");
            run.judge(&what);
        }
    }
}

#[test]
fn what_an_accepted_form_leaves_out_has_its_default() {
    // R2511-ELIC-08
    for (revision, way) in everything() {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::new(revision, way);
        let plan = run.call("plan");
        run.pair.run();
        run.pair.accept(&json!({}));
        run.pair.run();
        run.pair.accept(&json!({ "after": "lunch" }));
        run.pair.run();
        assert_eq!(run.text(plan), "0 after lunch, notify: false", "{what}");
        run.judge(&what);
    }
}

#[test]
fn a_question_that_cannot_be_answered_ends_its_call_one_way_or_the_other() {
    for (revision, way) in everything() {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::new(revision, way);
        let think = run.call("think");
        run.pair.run();
        run.pair.answer(Err(Declined::by_user("not now")));
        run.pair.run();
        match revision.adapter().ask_sampling {
            // R26-MRTR-22: there is no word for it, so the call is not repeated.
            AskBy::Retry => {
                let error = run.pair.reply(think).unwrap_err();
                assert_eq!(error.ran, Ran::Maybe, "{what}");
                assert!(matches!(error.kind, ErrorKind::Unanswered(_)), "{what}: {error}");
            }
            _ => assert!(run.pair.result(think).unwrap().is_error, "{what}"),
        }
        run.judge(&what);
    }
}

#[test]
fn a_question_goes_with_the_call_that_asked_it() {
    for (revision, way) in everything() {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::new(revision, way);
        let think = run.call("think");
        run.pair.run();
        assert_eq!(run.pair.asked().len(), 1, "{what}");
        run.pair.cancel(think);
        run.pair.run_for(Duration::from_secs(1));
        let withdrawn = run.pair.events().iter().any(|event| matches!(event, Event::Withdrawn(_)));
        assert!(withdrawn && run.pair.asked().is_empty(), "{what}");
        run.judge(&what);
    }
}

#[test]
fn a_question_waits_for_its_person_though_nothing_else_happens() {
    // However long a hub says nothing: a quiet hub is none that failed.
    for (revision, way) in everything() {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::new(revision, way);
        let deploy = run.call("deploy");
        run.pair.run_for(Duration::from_secs(115));
        assert_eq!(run.pair.asked(), ["Deploy 0?"], "{what}");
        run.pair.accept(&json!({}));
        run.pair.run();
        assert_eq!(run.text(deploy), "accept", "{what}");
        run.judge(&what);
    }
}

#[test]
fn a_pushed_question_that_nobody_answers_in_two_minutes_is_withdrawn() {
    for (revision, way) in everything() {
        if revision.adapter().ask_elicitation != AskBy::Push {
            continue;
        }
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::new(revision, way);
        let deploy = run.call("deploy");
        run.pair.run_for(Duration::from_secs(125));
        assert!(run.pair.asked().is_empty(), "{what}");
        assert_eq!(run.text(deploy), "nobody answered the question in time", "{what}");
        run.judge(&what);
    }
}
