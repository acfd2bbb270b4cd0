//! Scopes of tools, prompts, resources and templates: who lacks one is refused, in every way in, and
//! sees it listed or not.

use mcp_proto::auth::{Authorization, Principal};
use mcp_proto::frame::uri_template::UriTemplate;
use mcp_proto::model::{Catalog, Change, Prompt, Resource, ResourceTemplate};
use mcp_proto::revision::Revision;
use mcp_proto::store::{HubOp, topic};
use mcp_proto::testing::Cluster;

use crate::fixture::{Caller, Way};
use crate::service::{SEC, Service, declared, secret, serving};

fn catalog() -> Catalog {
    let scopes = || vec!["secrets".to_owned()];
    let mut catalog = declared();
    catalog.features.completions = true;
    catalog.insert_tool(secret());
    let mut prompt = Prompt::new("secret_prompt");
    prompt.scopes = scopes();
    catalog.insert_prompt(prompt);
    let mut resource = Resource::new("test://secret", "secret");
    resource.scopes = scopes();
    catalog.insert_resource(resource);
    let template = UriTemplate::parse("hidden://{id}").expect("a template");
    let mut template = ResourceTemplate::new(template, "hidden");
    template.scopes = scopes();
    catalog.insert_template(template);
    catalog
}

fn cluster(lists_what_is_allowed: bool) -> Cluster<Service> {
    let authorization = Authorization::builder("https://localhost/mcp")
        .authorization_server("https://login.example.com")
        .build()
        .expect("settings");
    let worker = || {
        serving(catalog())
            .authorization(authorization.clone())
            .lists_what_is_allowed(lists_what_is_allowed)
            .build()
    };
    Cluster::new([worker(), worker()], Service)
        .with_token("ada", Principal::subject("ada").with_scopes(["secrets"]))
        .with_token("eve", Principal::subject("eve"))
}

/// Method and parameters of everything that needs the scope, and of its like that does not.
fn requests(revision: Revision) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut all = vec![
        ("tools/call", r#""name":"secret""#, r#""name":"add""#),
        ("prompts/get", r#""name":"secret_prompt""#, r#""name":"test_simple_prompt""#),
        ("resources/read", r#""uri":"test://secret""#, r#""uri":"test://static-text""#),
        ("resources/read", r#""uri":"TEST://secret""#, r#""uri":"TEST://static-text""#),
        ("resources/read", r#""uri":"hidden://7""#, r#""uri":"test://template/7/data""#),
        (
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"secret_prompt"},"argument":{"name":"a","value":""}"#,
            r#""ref":{"type":"ref/prompt","name":"test_prompt_with_arguments"},"argument":{"name":"arg1","value":""}"#,
        ),
        (
            "completion/complete",
            r#""ref":{"type":"ref/resource","uri":"hidden://{id}"},"argument":{"name":"id","value":""}"#,
            r#""ref":{"type":"ref/resource","uri":"test://template/{id}/data"},"argument":{"name":"id","value":""}"#,
        ),
    ];
    if revision.adapter().has_handshake {
        all.push((
            "resources/subscribe",
            r#""uri":"test://secret""#,
            r#""uri":"test://static-text""#,
        ));
        all.push((
            "resources/subscribe",
            r#""uri":"hidden://7""#,
            r#""uri":"test://template/7/data""#,
        ));
    }
    all
}

#[test]
fn who_lacks_a_scope_is_refused_by_name_whatever_it_is_that_needs_it() {
    for revision in Revision::ALL {
        let mut cluster = cluster(false);
        for (token, may) in [("ada", true), ("eve", false)] {
            let mut caller =
                Caller::new(revision, Way::Http, 2).with_token(token).open(&mut cluster);
            for (method, guarded, open) in requests(revision) {
                for (params, expected) in [(guarded, may), (open, true)] {
                    let request = caller.peer.request(method, params);
                    let line = caller.send(&mut cluster, &request);
                    cluster.run();
                    let response = cluster.responses(line).pop().expect("a response");
                    let what = format!("{revision} {token} {method} {params}");
                    assert_eq!(response.status != 403, expected, "{what}");
                    if !expected {
                        let challenge = response.header("www-authenticate").expect("a challenge");
                        assert!(challenge.contains("insufficient_scope"), "{what}: {challenge}");
                        assert!(challenge.contains("scope=\"secrets\""), "{what}: {challenge}");
                    }
                }
            }
        }
    }
}

#[test]
fn everything_is_listed_unless_it_is_to_be_what_the_caller_may_use() {
    const LISTS: [(&str, &str); 4] = [
        ("tools/list", "\"secret\""),
        ("prompts/list", "secret_prompt"),
        ("resources/list", "test://secret"),
        ("resources/templates/list", "hidden://{id}"),
    ];
    for revision in Revision::ALL {
        for (only_allowed, token, shown) in
            [(false, "eve", true), (true, "eve", false), (true, "ada", true)]
        {
            let mut cluster = cluster(only_allowed);
            let mut caller =
                Caller::new(revision, Way::Http, 2).with_token(token).open(&mut cluster);
            for (method, secret) in LISTS {
                let list = caller.peer.request(method, "");
                let line = caller.send(&mut cluster, &list);
                cluster.run();
                let heard = caller.heard(&cluster, line).concat();
                let what = format!("{revision} {token} {method}: {heard}");
                assert!(heard.contains("\"result\""), "{what}");
                assert_eq!(heard.contains(secret), shown, "{what}");
            }
        }
    }
}

#[test]
fn a_request_to_listen_is_acknowledged_without_what_the_caller_may_not_read() {
    for (token, updates) in [("ada", 2), ("eve", 1)] {
        let mut cluster = cluster(false);
        let mut caller =
            Caller::new(Revision::V2026_07_28, Way::Http, 2).with_token(token).open(&mut cluster);
        let wanted =
            r#""notifications":{"resourceSubscriptions":["test://secret","test://static-text"]}"#;
        let listen = caller.peer.request("subscriptions/listen", wanted);
        let line = caller.send(&mut cluster, &listen);
        cluster.run_for(SEC(1));
        let namespace = match token {
            "ada" => Principal::subject("ada").identity(),
            _ => Principal::subject("eve").identity(),
        };
        for uri in ["test://secret", "test://static-text"] {
            for namespace in ["", &namespace] {
                let topic = topic(namespace, "changes", None);
                let message = Change::Updated(uri.into()).encode();
                cluster.publish(HubOp::Publish { topic, message, ttl: SEC(60), keep: 100 });
            }
        }
        cluster.run();
        let heard = caller.heard(&cluster, line);
        let told = heard.iter().filter(|it| it.contains("notifications/resources/updated"));
        assert_eq!(told.count(), updates, "{token}: {heard:?}");
    }
}
