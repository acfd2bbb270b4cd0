use super::*;

/// The parts of the pair that progress is told in: the call's response, or the session's stream.
fn note(call: &Open, progress: &str) -> String {
    let token = &body(call)["params"]["_meta"]["progressToken"];
    let params = format!(r#"{{"progressToken":{token},"progress":{progress}}}"#);
    event(
        None,
        &format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#),
    )
}

fn told(http: &Http) -> Vec<f64> {
    let told = http.events.iter().filter_map(|event| match event {
        Event::Progress(_, progress) => Some(progress.progress),
        _ => None,
    });
    told.collect()
}

fn connected(revision: Revision) -> Http {
    match revision.adapter().has_handshake {
        true => Http::legacy(revision),
        false => Http::modern(),
    }
}

/// R24-PROG-02, R2503-TIME-03.
#[test]
fn progress_that_does_not_rise_is_dropped_and_keeps_no_call_alive() {
    let rows: &[(&[&str], &[f64])] = &[
        (&["1", "1", "2", "1.5", "3"], &[1.0, 2.0, 3.0]),
        (&["10", "9", "8", "-19"], &[10.0]),
        (&["0", "0", "0.0", "-0"], &[0.0]),
        (&["-5", "-4", "-4.5", "1e-3"], &[-5.0, -4.0, 0.001]),
        (&["1e3", "1000", "1000.5"], &[1000.0, 1000.5]),
    ];
    for revision in Revision::ALL {
        for (steps, expected) in rows {
            let mut http = connected(revision);
            let call = http.call(tool_call());
            let post = http.take();
            http.head(&post, 200, EVENTS);
            for step in *steps {
                http.feed(&post, &note(&post, step));
            }
            assert_eq!(told(&http), *expected, "{revision:?} {steps:?}");
            assert!(http.ended(call).is_none());
        }
        // 10, 9, .., every 100 ms: silence, after the first one.
        let mut http = connected(revision);
        let patience = Duration::from_secs(1);
        let call = http.call(tool_call().with_patience(patience));
        let post = http.take();
        http.head(&post, 200, EVENTS);
        for step in (-19..=10).rev() {
            http.feed(&post, &note(&post, &step.to_string()));
            http.pass(Duration::from_millis(100));
        }
        assert_eq!(http.error_of(call).kind, ErrorKind::TimedOut, "{revision:?}");
        // What rises keeps it.
        let mut http = connected(revision);
        let call = http.call(tool_call().with_patience(patience));
        let post = http.take();
        http.head(&post, 200, EVENTS);
        for step in 0..30 {
            http.feed(&post, &note(&post, &step.to_string()));
            http.pass(Duration::from_millis(100));
        }
        assert!(http.ended(call).is_none(), "{revision:?}");
        assert_eq!(told(&http).len(), 30);
    }
}

/// R2503-TIME-04.
#[test]
fn progress_that_rises_without_end_keeps_a_call_only_so_long() {
    for revision in Revision::ALL {
        let mut http = connected(revision);
        let call = http.call(tool_call().with_deadline(Duration::from_secs(10)));
        let post = http.take();
        http.head(&post, 200, EVENTS);
        for step in 0..12 {
            http.feed(&post, &note(&post, &step.to_string()));
            http.pass(Duration::from_secs(1));
        }
        assert_eq!(http.error_of(call).kind, ErrorKind::TimedOut, "{revision:?}");
        assert_eq!(told(&http).len(), 10, "{revision:?}");
    }
}

#[test]
fn calls_that_run_handlers_have_a_token_unless_it_is_switched_off() {
    let calls: [fn() -> Request; 3] =
        [tool_call, || Request::read_resource("a:b"), || Request::get_prompt("p", None)];
    for revision in Revision::ALL {
        for call in calls {
            let mut http = connected(revision);
            http.call(call());
            let post = http.take();
            let sent = body(&post);
            assert_eq!(sent["params"]["_meta"]["progressToken"], sent["id"], "{revision:?}");
            http.call(call().without_progress());
            let post = http.take();
            assert_eq!(body(&post)["params"]["_meta"].get("progressToken"), None, "{revision:?}");
        }
        let mut http = connected(revision);
        http.call(Request::list(Operation::ListTools));
        let post = http.take();
        assert_eq!(body(&post)["params"]["_meta"].get("progressToken"), None, "{revision:?}");
    }
}
