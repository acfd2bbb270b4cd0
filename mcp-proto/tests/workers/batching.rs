//! Batches of 2025-03-26 (R2503-RPC-17), whose parts do what they would do alone.

use mcp_proto::revision::Revision;

use crate::fixture::{Caller, Way};
use crate::service::{SEC, cluster};

const REVISION: Revision = Revision::V2025_03_26;

fn batch(messages: &[String]) -> String {
    format!("[{}]", messages.join(","))
}

#[test]
fn answers_in_a_batch_are_answers() {
    for way in Way::ALL {
        let mut cluster = cluster(3);
        let mut caller =
            Caller::new(REVISION, way, 3).declaring(r#"{"sampling":{}}"#).open(&mut cluster);
        let lines = [(); 2].map(|()| {
            let line = caller.call(&mut cluster, "chat", "");
            cluster.run();
            line
        });
        let ids: Vec<String> = (lines.iter().flat_map(|line| caller.heard(&cluster, *line)))
            .filter_map(|it| {
                Some(it.split_once("\"id\":")?.1.split_once(",\"method\":\"sampling")?.0.to_owned())
            })
            .collect();
        let mut ids = ids;
        ids.dedup();
        let result = r#"{"role":"assistant","content":{"type":"text","text":"hello"},"model":"m"}"#;
        let mut answers: Vec<_> = ids
            .iter()
            .map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
            .collect();
        answers.push(format!(r#"{{"jsonrpc":"2.0","id":"nobody-asked","result":{result}}}"#));
        let line = caller.send(&mut cluster, &batch(&answers));
        cluster.run();
        if way == Way::Http {
            assert_eq!(cluster.responses(line)[0].status, 202);
        }
        let heard: Vec<_> = lines.iter().flat_map(|line| caller.heard(&cluster, *line)).collect();
        let given = heard.iter().filter(|it| it.contains("given")).count();
        assert!(given >= 2, "{way:?}: {heard:?}");
    }
}

#[test]
fn changes_in_a_batch_are_kept_and_answered_in_order() {
    for way in Way::ALL {
        let mut cluster = cluster(3);
        let mut caller = Caller::new(REVISION, way, 3).open(&mut cluster);
        let requests = [
            caller.peer.request_as("11", "logging/setLevel", "\"level\":\"info\"", ""),
            caller.peer.request_as("12", "ping", "", ""),
            caller.peer.request_as("13", "tools/call", "\"name\":\"test_simple_text\"", ""),
            caller.peer.request_as("14", "resources/subscribe", "\"uri\":\"test://watched\"", ""),
        ];
        let line = caller.send(&mut cluster, &batch(&requests));
        cluster.run_for(SEC(1));
        let reply = caller.heard(&cluster, line).pop().expect("a reply");
        for id in 11..=14 {
            assert!(reply.contains(&format!("\"id\":{id},\"result\"")), "{way:?}: {reply}");
        }
        let line = caller.call(&mut cluster, "test_tool_with_logging", "");
        cluster.run_for(SEC(1));
        let heard = caller.heard(&cluster, line);
        assert!(heard.iter().any(|it| it.contains("notifications/message")), "{way:?}: {heard:?}");
    }
}

#[test]
fn a_batch_of_cancellations_cancels() {
    for way in Way::ALL {
        let mut cluster = cluster(3);
        let mut caller = Caller::new(REVISION, way, 3).open(&mut cluster);
        for id in ["21", "22"] {
            let call = caller.peer.request_as(id, "tools/call", "\"name\":\"slow\"", "");
            caller.send(&mut cluster, &call);
            cluster.run_for(SEC(1));
        }
        let cancel = |id: u32| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            )
        };
        caller.send(&mut cluster, &batch(&[cancel(21), cancel(22)]));
        cluster.run_for(SEC(1));
        assert_eq!(cluster.cancelled_calls(), 2, "{way:?}");
    }
}

#[test]
fn tools_ask_in_arguments_in_a_batch_too() {
    for way in Way::ALL {
        let mut cluster = cluster(3);
        let mut caller = Caller::new(REVISION, way, 3).open(&mut cluster);
        let arguments = |extra: &str| format!(r#""name":"ask","arguments":{{{extra}}}"#);
        let call = caller.peer.request_as("31", "tools/call", &arguments(""), "");
        let line = caller.send(&mut cluster, &batch(&[call]));
        cluster.run();
        let reply = caller.heard(&cluster, line).pop().expect("a reply");
        let (_, state) = reply.split_once(r#""requestState":""#).expect("a state");
        let (state, _) = state.split_once('"').expect("text");
        let answers = format!(
            r#""request_state":"{state}","input_responses":{{"who":{{"action":"accept","content":{{"name":"ada"}}}}}}"#
        );
        let call = caller.peer.request_as("32", "tools/call", &arguments(&answers), "");
        let line = caller.send(&mut cluster, &batch(&[call]));
        cluster.run_for(SEC(5));
        let reply = caller.heard(&cluster, line).pop().expect("a reply");
        assert!(reply.contains("ada") && reply.contains("\"id\":32"), "{way:?}: {reply}");
    }
}
