//! What a server cannot have its client hold, or send.

use super::*;

fn resumable() -> impl Iterator<Item = Revision> {
    [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25].into_iter()
}

#[test]
fn an_event_id_is_sent_back_up_to_its_bound_and_left_out_beyond() {
    for revision in resumable() {
        for (length, sent_back) in
            [(1, true), (1_024, true), (1_025, false), (70_000, false), (2 << 20, false)]
        {
            let mut http = Http::legacy(revision);
            let call = http.call(tool_call());
            let post = http.take();
            http.head(&post, 200, EVENTS);
            http.feed(&post, "id: first\nretry: 10\ndata: \n\n");
            let id = "y".repeat(length);
            http.feed(&post, &format!("id: {id}\ndata: \n\n"));
            http.end(&post);
            http.pass(Duration::from_secs(1));
            let get = http.take();
            let expected = if sent_back { id.as_str() } else { "first" };
            assert_eq!(header(&get, "Last-Event-ID"), Some(expected), "{revision} {length}");
            assert!(http.ended(call).is_none());
        }
    }
}

#[test]
fn a_server_that_asks_and_takes_no_answer_gets_no_more_and_calls_go_on() {
    for revision in resumable() {
        let mut config = config([revision]);
        config.limits.unsent = 10_000;
        let mut http = Http::legacy_with(config, revision);
        let call = http.call(tool_call());
        let post = http.take();
        http.head(&post, 200, EVENTS);
        for method in ["ping", "roots/list", "no/such"] {
            for _ in 0..100 {
                http.feed(
                    &post,
                    &event(None, &format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}"}}"#)),
                );
            }
        }
        let answers = http.take_all();
        assert!((5..15).contains(&answers.len()), "{revision}: {}", answers.len());
        assert!(http.count(|event| matches!(event, Event::Warning(_))) > 0);
        // Answers that are taken make room for others.
        for answer in &answers {
            http.respond(answer, 202, &[], b"");
        }
        http.feed(&post, &event(None, r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#));
        assert_eq!(body(&http.take())["id"], 8, "{revision}");
        let id = &body(&post)["id"];
        http.feed(
            &post,
            &event(None, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{DONE}}}"#)),
        );
        assert!(http.ended(call).unwrap().is_ok());
    }
}
