//! Arguments of prompts, which are text on the wire.

use mcp_proto::client::{ErrorKind, Ran};
use mcp_proto::model::{Json, ReplyValue, Request};
use mcp_proto::service::{RawArgs, Registry, prompt};
use mcp_proto::testing::Pair;

use super::everything;

fn json(text: &str) -> Json {
    Json::parse(text.to_owned()).expect("valid")
}

/// R24-PRMT-03.
#[test]
fn scalars_are_sent_to_a_prompt_as_their_text_and_what_has_none_is_refused_here() {
    let sent = [
        (r#"{"n":"5"}"#, r#"{"n":"5"}"#),
        (r#"{"n":5}"#, r#"{"n":"5"}"#),
        (r#"{"n": -1.50e3 ,"b":true}"#, r#"{"n":"-1.50e3","b":"true"}"#),
        (r#"{"b":false,"s":"\u00e9"}"#, r#"{"b":"false","s":"é"}"#),
        (r#"{"gone":null,"s":"x"}"#, r#"{"s":"x"}"#),
        ("{}", "{}"),
    ];
    let refused = [r#"{"n":5,"o":{"a":1}}"#, r#"{"list":[]}"#, r#"{"list":["a"]}"#, r#"{"o":{}}"#];
    for (revision, way) in everything() {
        let echo = prompt("p", |RawArgs(sent): RawArgs| async move { sent.to_string() });
        let service = Registry::new("demo", "1").prompt(echo).build().expect("valid");
        let mut pair = Pair::new(service).revision(revision).over(way);
        for (arguments, expected) in sent {
            let call = pair.call(Request::get_prompt("p", Some(json(arguments))));
            pair.run();
            let reply = pair.reply(call).unwrap_or_else(|error| panic!("{arguments}: {error}"));
            let ReplyValue::Prompt(result) = reply.value else { panic!("{arguments}") };
            let said = format!("{:?}", result.messages[0].content);
            let expected = format!("{expected:?}");
            assert!(said.contains(&expected), "{revision:?} {way:?}: {said} for {arguments}");
        }
        let before = pair.requests().len();
        for arguments in refused {
            let call = pair.call(Request::get_prompt("p", Some(json(arguments))));
            pair.run();
            let error = pair.reply(call).expect_err(arguments);
            assert!(matches!(error.kind, ErrorKind::Misuse(_)), "{arguments}: {error}");
            assert_eq!(error.ran, Ran::Never, "{arguments}");
        }
        assert_eq!(pair.requests().len(), before, "nothing was sent");
    }
}
