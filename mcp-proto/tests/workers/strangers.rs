//! What belongs to another is unknown, byte for byte as if it had never been (C49, C50, R2503-SESS-11).
//! Each object that has a name, by each route, by each stranger.

use std::sync::Arc;

use mcp_proto::auth::{Authorization, AuthorizationBuilder, Principal};
use mcp_proto::model::Change;
use mcp_proto::revision::Revision;
use mcp_proto::store::{HubOp, topic};
use mcp_proto::testing::{Cluster, LineId};

use crate::fixture::{Caller, Way};
use crate::service::{MS, SEC, Service, builder, declared, secret};

const OWN: Revision = Revision::V2025_11_25;
const WORKERS: usize = 2;

/// Who tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stranger {
    /// Another person.
    Other,
    /// Somebody of the same name, whom another issuer vouches for.
    OtherIssuer,
    /// Nobody that the verifier knows.
    NoToken,
    BadToken,
}

const STRANGERS: [Stranger; 4] =
    [Stranger::Other, Stranger::OtherIssuer, Stranger::NoToken, Stranger::BadToken];

impl Stranger {
    fn token(self) -> Option<&'static str> {
        match self {
            Self::Other => Some("eve"),
            Self::OtherIssuer => Some("ada-elsewhere"),
            Self::NoToken => None,
            Self::BadToken => Some("mallory"),
        }
    }
}

fn terms() -> AuthorizationBuilder {
    Authorization::builder("https://localhost/mcp")
        .authorization_server("https://login.example.com")
}

fn guarded_cluster() -> Cluster<Service> {
    guarded_by(&terms().build().expect("settings"))
}

fn guarded_by(authorization: &Authorization) -> Cluster<Service> {
    let guarded = || builder().authorization(authorization.clone());
    let ada = Principal::subject("ada").issued_by("https://login.example.com");
    Cluster::new((0..WORKERS).map(|_| guarded().build()), Service)
        .with_token("ada", ada.with_scopes(["secrets"]))
        .with_token(
            "ada-elsewhere",
            Principal::subject("ada").issued_by("https://other.example.com"),
        )
        .with_token("eve", Principal::subject("eve").issued_by("https://login.example.com"))
}

/// A way in, for something that has this name.
type Route = fn(&mut Caller, &mut Cluster<Service>, &str) -> LineId;

fn post(caller: &mut Caller, cluster: &mut Cluster<Service>, session: &str, body: &str) -> LineId {
    caller.peer.session = Some(session.to_owned());
    caller.send(cluster, body)
}

/// Every route by which a session can be named.
const BY_SESSION: [(&str, Route); 10] = [
    ("request", |caller, cluster, id| {
        post(caller, cluster, id, r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#)
    }),
    ("call", |caller, cluster, id| {
        let body = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"test_simple_text"}}"#;
        post(caller, cluster, id, body)
    }),
    ("update", |caller, cluster, id| {
        let body = r#"{"jsonrpc":"2.0","id":9,"method":"resources/subscribe","params":{"uri":"test://watched"}}"#;
        post(caller, cluster, id, body)
    }),
    ("notification", |caller, cluster, id| {
        post(caller, cluster, id, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    }),
    ("cancellation", |caller, cluster, id| {
        let body =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#;
        post(caller, cluster, id, body)
    }),
    ("response", |caller, cluster, id| {
        post(caller, cluster, id, r#"{"jsonrpc":"2.0","id":"q","result":{}}"#)
    }),
    ("stream", |caller, cluster, id| {
        caller.peer.session = Some(id.to_owned());
        caller.listen(cluster, None)
    }),
    ("resumption", |caller, cluster, id| {
        caller.peer.session = Some(id.to_owned());
        caller.listen(cluster, Some("changes.0"))
    }),
    ("deletion", |caller, cluster, id| {
        caller.peer.session = Some(id.to_owned());
        caller.delete(cluster)
    }),
    ("HTTP+SSE message", |caller, cluster, id| {
        let target = format!("{}?session_id={id}", Caller::MESSAGES);
        let body = r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#;
        caller.request(cluster, "POST", &target, &[("Content-Type", "application/json")], body)
    }),
];

/// The same name with another last character: one that was never given.
fn never(id: &str) -> String {
    let last = if id.ends_with('A') { "B" } else { "A" };
    format!("{}{last}", &id[..id.len() - 1])
}

/// The answers to both names are equal; the owner's is another one.
fn assert_unknown(
    cluster: &mut Cluster<Service>,
    stranger: &mut Caller,
    (what, route): (&str, Route),
    id: &str,
) {
    let lines = [id.to_owned(), never(id)].map(|id| route(stranger, cluster, &id));
    cluster.run_for(SEC(5));
    let [own, unknown] = lines.map(|line| {
        let bytes = cluster.received(line).to_vec();
        cluster.cut(line);
        bytes
    });
    assert!(!own.is_empty(), "{what}: no answer");
    assert_eq!(
        String::from_utf8_lossy(&own),
        String::from_utf8_lossy(&unknown),
        "{what} by {:?}",
        stranger.token
    );
}

fn stranger(who: Stranger) -> Caller {
    let caller = Caller::new(OWN, Way::Http, WORKERS);
    match who.token() {
        Some(token) => caller.with_token(token),
        None => caller,
    }
}

#[test]
fn a_session_of_another_is_unknown_by_every_route() {
    let mut probes = 0;
    for way in [Way::Http, Way::Sse] {
        for who in STRANGERS {
            let mut cluster = guarded_cluster();
            let mut owner = Caller::new(OWN, way, WORKERS).with_token("ada").open(&mut cluster);
            let session = owner.session();
            for route in BY_SESSION {
                assert_unknown(&mut cluster, &mut stranger(who), route, &session);
                probes += 1;
            }
            // Nothing of it did the owner any harm, and the owner is told something else.
            let ping = owner.peer.request("ping", "");
            let line = owner.send(&mut cluster, &ping);
            cluster.run();
            let heard = owner.heard(&cluster, line);
            assert!(heard.last().is_some_and(|it| it.contains("result")), "{way:?} {who:?}");
        }
    }
    println!("{probes} probes");
}

#[test]
fn a_call_of_another_cannot_be_cancelled_nor_its_question_answered() {
    for who in [Stranger::Other, Stranger::OtherIssuer] {
        let mut cluster = guarded_cluster();
        let mut owner = Caller::new(OWN, Way::Http, WORKERS)
            .with_token("ada")
            .declaring(r#"{"sampling":{}}"#)
            .open(&mut cluster);
        let call = owner.peer.request_as("77", "tools/call", "\"name\":\"chat\"", "");
        let line = owner.send(&mut cluster, &call);
        cluster.run_for(SEC(1));
        let asked = owner.heard(&cluster, line).pop().expect("a question");
        let (id, _) = asked.split_once("\"id\":").expect("an id").1.split_once(',').expect("more");
        // Eve has a session of her own, and knows every id.
        let mut eve = stranger(who).open(&mut cluster);
        for body in [
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"role":"assistant","content":{{"type":"text","text":"eve"}},"model":"m"}}}}"#
            ),
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#
                .into(),
        ] {
            let sent = eve.send(&mut cluster, &body);
            cluster.run_for(SEC(1));
            assert_eq!(cluster.responses(sent)[0].status, 202);
        }
        assert_eq!(cluster.cancelled_calls(), 0);
        assert_eq!(owner.heard(&cluster, line).len(), 1, "only the question");
    }
}

#[test]
fn a_request_state_of_another_is_unknown() {
    for who in [Stranger::Other, Stranger::OtherIssuer] {
        let mut cluster = guarded_cluster();
        let modern = Revision::V2026_07_28;
        let mut owner = Caller::new(modern, Way::Http, WORKERS)
            .with_token("ada")
            .declaring(r#"{"elicitation":{}}"#);
        let line = owner.call(&mut cluster, "ask", "");
        cluster.run();
        let reply = owner.heard(&cluster, line).pop().expect("a reply");
        let (state, _) = reply
            .split_once("requestState\":\"")
            .expect("a state")
            .1
            .split_once('"')
            .expect("text");
        let mut eve = stranger(who);
        eve.peer.revision = modern;
        let route: Route = |caller, cluster, state| {
            let params = format!(
                r#""name":"ask","requestState":"{state}","inputResponses":{{"who":{{"action":"accept","content":{{"name":"eve"}}}}}}"#
            );
            let message = caller.peer.request_as("9", "tools/call", &params, "");
            caller.send(cluster, &message)
        };
        assert_unknown(&mut cluster, &mut eve, ("retry", route), state);
        assert_eq!(cluster.ran().len(), 1);
    }
}

#[test]
fn an_event_id_of_another_resumes_nothing() {
    for who in [Stranger::Other, Stranger::OtherIssuer] {
        let mut cluster = guarded_cluster();
        let mut owner = Caller::new(OWN, Way::Http, WORKERS).with_token("ada").open(&mut cluster);
        let line = owner.call(&mut cluster, "count", "\"progressToken\":1");
        cluster.run_for(MS(2_500));
        let id = cluster.responses(line)[0].last_event_id().expect("an event id");
        // In a session of her own.
        let mut eve = stranger(who).open(&mut cluster);
        let route: Route = |caller, cluster, id| {
            let id = id.strip_suffix('A').or_else(|| id.strip_suffix('B')).unwrap_or(id);
            caller.listen(cluster, Some(id))
        };
        let (stream, cursor) = id.split_once('.').expect("a stream");
        // Which request it answers is all that an id says by itself.
        let (key, request) = stream.split_once('~').expect("a request");
        let lines = [id.clone(), format!("{}~{request}.{cursor}", never(key))]
            .map(|id| route(&mut eve, &mut cluster, &id));
        cluster.run_for(SEC(20));
        let [own, unknown] = lines.map(|line| eve.heard(&cluster, line));
        assert_eq!(own, unknown);
        assert!(own.iter().all(|message| message.contains("may have run")), "{own:?}");
        assert_eq!(owner.heard(&cluster, line).len(), 11, "the owner missed nothing");
    }
}

#[test]
fn tenants_with_equal_names_never_meet() {
    let tenant = |name: &str| builder().namespace(name).build();
    for (a, b) in [("acme", "globex"), ("a", "a/b"), ("a%2Fb", "a/b"), ("", "x")] {
        let mut cluster = Cluster::new([tenant(a), tenant(b)], Service);
        let mut owner = Caller::new(OWN, Way::Http, 1).open(&mut cluster);
        let session = owner.session();
        let listener = owner.listen(&mut cluster, None);
        cluster.run();
        for route in BY_SESSION {
            let mut other = Caller::new(OWN, Way::Http, 2);
            for id in [session.clone(), never(&session)] {
                // Always at the other tenant's worker.
                other.turn_to(1);
                let line = route.1(&mut other, &mut cluster, &id);
                cluster.run_for(SEC(5));
                let status = cluster.responses(line)[0].status;
                assert_eq!(status, 404, "{} of {a} at {b}", route.0);
            }
        }
        let topic = topic(b, "changes", None);
        let message = Change::Tools.encode();
        cluster.publish(HubOp::Publish { topic, message, ttl: SEC(60), keep: 9 });
        cluster.run();
        assert!(owner.heard(&cluster, listener).is_empty(), "{a} heard of {b}");
    }
}

#[test]
fn what_keeps_principals_apart_can_be_switched_off_one_by_one() {
    // Whether sessions are bound, whether names are kept apart; what eve gets for ada's session,
    // and who hears what is announced under the endpoint's own name.
    for (bind, separate, status, hears) in [
        (true, true, 404, false),
        (false, true, 404, false),
        (true, false, 404, true),
        (false, false, 200, true),
    ] {
        let what = format!("bound {bind}, separate {separate}");
        let settings = terms().bind_sessions(bind).namespace_from_token(separate);
        let mut cluster = guarded_by(&settings.build().expect("settings"));
        let mut owner = Caller::new(OWN, Way::Http, WORKERS).with_token("ada").open(&mut cluster);
        let listener = owner.listen(&mut cluster, None);
        cluster.run();
        let (topic, message) = (topic("", "changes", None), Change::Tools.encode());
        cluster.publish(HubOp::Publish { topic, message, ttl: SEC(60), keep: 9 });
        cluster.run();
        assert_eq!(owner.heard(&cluster, listener).len(), usize::from(hears), "{what}");
        for who in STRANGERS {
            let known = matches!(who, Stranger::Other | Stranger::OtherIssuer);
            let mut stranger = stranger(who);
            stranger.peer.session = Some(owner.session());
            let list = stranger.peer.request("tools/list", "");
            let line = stranger.send(&mut cluster, &list);
            cluster.run();
            let status = if known { status } else { 401 };
            assert_eq!(cluster.responses(line)[0].status, status, "{what}: {who:?}");
        }
    }
}

#[test]
fn every_route_but_the_metadata_is_guarded() {
    let methods = ["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS"];
    for path in ["/mcp", "/mcp/", Caller::STREAM, Caller::MESSAGES] {
        for method in methods {
            for (token, status) in [(None, 401), (Some("mallory"), 401)] {
                let mut cluster = guarded_cluster();
                let mut caller = Caller::new(OWN, Way::Http, WORKERS);
                caller.token = token;
                let line = caller.request(&mut cluster, method, path, &[], "");
                cluster.run();
                let text = String::from_utf8_lossy(cluster.received(line)).into_owned();
                assert!(
                    text.starts_with(&format!("HTTP/1.1 {status} ")),
                    "{method} {path}: {text}"
                );
                assert!(text.contains("WWW-Authenticate: Bearer "), "{method} {path}: {text}");
                let names_error = text.contains("error=\"invalid_token\"");
                assert_eq!(names_error, token.is_some(), "{method} {path}: {text}");
                assert!(text.contains("resource_metadata="), "{text}");
            }
        }
    }
    let mut cluster = guarded_cluster();
    let mut caller = Caller::new(OWN, Way::Http, WORKERS);
    let path = "/.well-known/oauth-protected-resource/mcp";
    let line = caller.request(&mut cluster, "GET", path, &[], "");
    cluster.run();
    assert_eq!(cluster.responses(line)[0].status, 200);
}

#[test]
fn a_tool_with_a_scope_is_refused_alone_and_in_a_batch() {
    let endpoint = || {
        let mut catalog = declared();
        catalog.insert_tool(secret());
        let authorization = terms().build().expect("settings");
        mcp_proto::server::Endpoint::builder(Arc::new(catalog))
            .path("/mcp")
            .authorization(authorization)
            .build()
    };
    for (token, status) in [("ada", 200), ("eve", 403)] {
        for revision in Revision::ALL {
            let mut cluster = Cluster::new([endpoint()], Service)
                .with_token("ada", Principal::subject("ada").with_scopes(["secrets"]))
                .with_token("eve", Principal::subject("eve"));
            let mut caller =
                Caller::new(revision, Way::Http, 1).with_token(token).open(&mut cluster);
            let call = caller.peer.request("tools/call", "\"name\":\"secret\"");
            let ping = caller.peer.request("ping", "");
            let mut bodies = vec![call.clone()];
            if revision.adapter().allows_batch {
                bodies.push(format!("[{ping},{call}]"));
            }
            for body in bodies {
                let before = cluster.ran().len();
                let line = caller.send(&mut cluster, &body);
                cluster.run();
                let response = &cluster.responses(line)[0];
                assert_eq!(response.status, status, "{revision} {token} {body}");
                assert_eq!(cluster.ran().len() - before, usize::from(status == 200));
                if status == 403 {
                    let challenge = response.header("www-authenticate").expect("a challenge");
                    assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
                    assert!(challenge.contains("scope=\"secrets\""), "{challenge}");
                }
            }
        }
    }
}
