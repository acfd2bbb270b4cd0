//! Methods of extensions.

use serde_json::{Value, json};

use super::super::{Args, Json, Registry, schemars};
use super::talk::{REVISIONS, talk};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

#[test]
fn a_method_of_an_extension_is_known_where_the_revision_has_extensions() {
    // R26-EXT-01
    let service = Registry::new("test", "1")
        .extension("com.example/echo", json!({ "loud": true }))
        .method("com.example/echo", |Args(Echo { text }): Args<Echo>| async move {
            Json(json!({ "text": text.to_uppercase() }))
        })
        .build()
        .expect("valid");
    for revision in REVISIONS {
        let has = revision == "2026-07-28";
        let ask = |method: &'static str, params: Value| {
            talk(&service, revision, json!({}), |mut talk| async move {
                talk.request(method, params).await;
                talk.receive().await
            })
        };
        let echoed = ask("com.example/echo", json!({ "text": "hello" }));
        if has {
            assert_eq!(echoed["result"]["text"], "HELLO", "{echoed}");
            let wrong = ask("com.example/echo", json!({ "text": 7 }));
            assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
            let discovered = ask("server/discover", json!({}));
            let declared = &discovered["result"]["capabilities"]["extensions"];
            assert_eq!(declared["com.example/echo"], json!({ "loud": true }), "{discovered}");
        } else {
            assert_eq!(echoed["error"]["code"], -32601, "{revision}: {echoed}");
        }
        let other = ask("com.example/other", json!({}));
        assert_eq!(other["error"]["code"], -32601, "{revision}: {other}");
    }
}

#[test]
fn a_method_needs_an_extension_and_a_name_of_its_own() {
    let nothing = || async {};
    let built = Registry::new("test", "1").method("com.example/do", nothing).build();
    assert!(built.unwrap_err().to_string().contains("`.extension(..)`"));
    let built = Registry::new("test", "1")
        .extension("com.example/a", json!({}))
        .method("tools/call", nothing)
        .build();
    assert!(built.unwrap_err().to_string().contains("the protocol's own"));
}
