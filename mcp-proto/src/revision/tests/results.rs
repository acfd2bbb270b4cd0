use crate::model::{Body, Content, Json, Operation, ReplyValue};
use crate::revision::{Adapter, BadReply, Received, Revision};

fn read(adapter: &Adapter, operation: Operation, result: &str) -> Result<ReplyValue, BadReply> {
    let result = Json::parse(result.to_owned()).expect("valid");
    match adapter.read_result(operation, &result, false)? {
        Received::Reply(reply) => Ok(reply.value),
        Received::Questions(_) => panic!("no questions"),
    }
}

/// What a tool and a prompt give for one content block, in every revision.
fn blocks(block: &str) -> Vec<(String, Option<Content>)> {
    let mut all = Vec::new();
    for revision in Revision::ALL {
        let adapter = revision.adapter();
        let tool = format!(r#"{{"content":[{block}]}}"#);
        let ReplyValue::Tool(tool) = read(adapter, Operation::CallTool, &tool).unwrap() else {
            panic!("{revision:?}")
        };
        all.push((format!("{revision:?}, tool"), tool.content.into_iter().next()));
        let prompt = format!(r#"{{"messages":[{{"role":"user","content":{block}}}]}}"#);
        let prompt = read(adapter, Operation::GetPrompt, &prompt).unwrap();
        let ReplyValue::Prompt(prompt) = prompt else { panic!("{revision:?}") };
        let content = prompt.messages.into_iter().next().map(|message| message.content);
        all.push((format!("{revision:?}, prompt"), content));
    }
    all
}

/// R24-CONT-06.
#[test]
fn annotations_of_an_embedded_resource_are_read_on_the_block_and_on_the_resource() {
    let low = r#","annotations":{"priority":0.25}"#;
    let high = r#","annotations":{"priority":0.5}"#;
    let nothing = "";
    let null = r#","annotations":null"#;
    for (body, on_block, on_resource, priority) in [
        (r#""text":"t""#, nothing, high, Some(0.5)),
        (r#""text":"t""#, high, nothing, Some(0.5)),
        (r#""blob":"YQ==""#, nothing, low, Some(0.25)),
        (r#""text":"t""#, low, high, Some(0.25)),
        (r#""text":"t""#, null, high, Some(0.5)),
        (r#""text":"t""#, nothing, nothing, None),
    ] {
        let block = format!(
            r#"{{"type":"resource","resource":{{"uri":"a:b",{body}{on_resource}}}{on_block}}}"#
        );
        for (at, content) in blocks(&block) {
            let Some(Content::Resource { annotations, .. }) = content else { panic!("{at}") };
            let found = annotations.and_then(|annotations| annotations.priority);
            assert_eq!(found, priority, "{at}: {block}");
        }
    }
}

/// C17; RFC 4648, 3.1 to 3.3.
#[test]
fn base64_is_read_in_lines_without_padding_and_in_the_alphabet_for_urls() {
    const BYTES: [u8; 4] = [0xfb, 0xff, 0xbe, 0x61];
    let good = ["+/++YQ==", "+/++YQ", "+/++\\r\\nYQ==\\n", "-_--YQ==", "-_--YQ", " +/ ++\\tYQ = ="];
    for text in good {
        for (kind, member) in [("image", "data"), ("audio", "data")] {
            let block = format!(r#"{{"type":"{kind}","{member}":"{text}","mimeType":"a/b"}}"#);
            for (at, content) in blocks(&block) {
                let (Some(Content::Image { data, .. }) | Some(Content::Audio { data, .. })) =
                    content
                else {
                    panic!("{at}: {block}")
                };
                assert_eq!(data[..], BYTES, "{at}: {text}");
            }
        }
        for revision in Revision::ALL {
            let result = format!(r#"{{"contents":[{{"uri":"a:b","blob":"{text}"}}]}}"#);
            let value = read(revision.adapter(), Operation::ReadResource, &result).unwrap();
            let ReplyValue::Resource(result) = value else { panic!("{revision:?}") };
            let Body::Blob(blob) = &result.contents[0].body else { panic!("{revision:?}") };
            assert_eq!(blob[..], BYTES, "{revision:?}: {text}");
        }
    }
}

#[test]
fn what_is_not_base64_is_said_and_never_read_as_an_empty_resource() {
    for text in ["+/++/", "a", "no!", "YQ===="] {
        for revision in Revision::ALL {
            let adapter = revision.adapter();
            let one = format!(r#"{{"uri":"a:b","blob":"{text}"}}"#);
            let alone = format!(r#"{{"contents":[{one}]}}"#);
            let error = read(adapter, Operation::ReadResource, &alone).expect_err(text);
            let said = "the result cannot be read: contents[0]: its `blob` is not Base64";
            assert_eq!(error.to_string(), said, "{revision:?}: {text}");
            // A part that can be read is not lost with another one.
            let both = format!(r#"{{"contents":[{one},{{"uri":"a:c","text":""}}]}}"#);
            let value = read(adapter, Operation::ReadResource, &both).unwrap();
            let ReplyValue::Resource(result) = value else { panic!("{revision:?}") };
            assert_eq!(result.contents.len(), 1, "{revision:?}: {text}");
        }
    }
    for revision in Revision::ALL {
        let value = read(revision.adapter(), Operation::ReadResource, r#"{"contents":[]}"#);
        let Ok(ReplyValue::Resource(result)) = value else { panic!("{revision:?}") };
        assert!(result.contents.is_empty(), "a resource may hold nothing");
    }
}
