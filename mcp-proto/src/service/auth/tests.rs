use core::task::{Context, Poll, Waker};

use futures_util::future::pending;
use http::Extensions;

use super::super::world::{VirtualTime, pair};
use super::super::{
    Exchange, Host, MemoryHub, MemorySessionStore, Registry, Service, Shared, tool,
};
use super::*;
use crate::auth::bearer;
use crate::server::{Connection, Endpoint};
use crate::time::Instant;

const TOKEN: &str = "n5Uwz0yS4nVqvJ6GQe6S3A";

fn authorization() -> Authorization {
    Authorization::builder("https://h/mcp").required_scopes(["use"]).build().expect("valid")
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = core::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing to wait for"),
    }
}

fn principal(guard: &Guard, fields: &[&str]) -> Result<Principal, Refusal> {
    let fields = fields.iter().map(|field| field.as_bytes());
    ready(guard.principal(bearer(fields), Duration::from_secs(100)))
}

#[test]
fn a_guard_goes_all_the_way_from_the_header_to_the_principal() {
    // R2506-ATOK-03, R2503-AUTH-07, R2503-AUTH-08
    let user = Principal::subject("ada").with_scopes(["use"]);
    let tokens = StaticTokens::new()
        .token(TOKEN, user.clone())
        .and_then(|it| it.token("expired-expired-expired", user.clone().expires_at(50)))
        .and_then(|it| it.token("narrow-narrow-narrow", Principal::client("c")))
        .expect("tokens");
    let guard = Guard::new(authorization(), tokens);
    let bearer = format!("Bearer {TOKEN}");
    let needed = Refusal::InsufficientScope(["use".to_owned()].into());
    for (fields, expected) in [
        (&[bearer.as_str()][..], Ok(user.clone())),
        (&[], Err(Refusal::Missing)),
        (&["Basic x"], Err(Refusal::Missing)),
        (&["Bearer a b"], Err(Refusal::Malformed)),
        (&[bearer.as_str(), bearer.as_str()], Err(Refusal::Malformed)),
        (&["Bearer unknown-unknown-unknown"], Err(Refusal::Invalid)),
        (&["Bearer expired-expired-expired"], Err(Refusal::Invalid)),
        (&["Bearer narrow-narrow-narrow"], Err(needed)),
    ] {
        assert_eq!(principal(&guard, fields), expected, "{fields:?}");
    }
}

#[test]
fn an_async_function_is_a_verifier_and_may_be_shared() {
    async fn verify(token: String) -> Result<Principal, VerifyError> {
        match token.as_str() {
            TOKEN => Ok(Principal::subject("ada").with_scopes(["use"])),
            "down" => Err(VerifyError::Unavailable("no route to the issuer".into())),
            _ => Err(VerifyError::Invalid),
        }
    }
    let shared: Arc<dyn TokenVerifier> = Arc::new(verify);
    for guard in [Guard::new(authorization(), verify), Guard::new(authorization(), shared)] {
        assert!(principal(&guard, &[&format!("Bearer {TOKEN}")]).is_ok());
        assert_eq!(principal(&guard, &["Bearer other"]), Err(Refusal::Invalid));
        assert_eq!(principal(&guard, &["Bearer down"]), Err(Refusal::Unavailable));
    }
}

#[test]
fn tokens_that_can_be_guessed_or_never_sent_are_refused() {
    for (token, error) in [
        ("", InvalidToken::Short),
        ("hunter2", InvalidToken::Short),
        ("fifteen-letters", InvalidToken::Short),
        ("sixteen letters!", InvalidToken::Characters),
        ("================", InvalidToken::Characters),
        ("aaaaaaaaaaaaaaa=b", InvalidToken::Characters),
    ] {
        let refused = StaticTokens::new().token(token, Principal::client("c"));
        assert_eq!(refused.unwrap_err(), error, "{token}");
    }
}

#[test]
fn no_debug_text_holds_a_token() {
    let tokens = StaticTokens::new().token(TOKEN, Principal::subject("ada")).expect("a token");
    let guard = Guard::new(authorization(), tokens.clone());
    let answer = tokens.verify(TOKEN);
    for shown in [format!("{tokens:?}"), format!("{guard:?}"), format!("{answer:?}")] {
        assert!(!shown.contains(TOKEN), "{shown}");
    }
}

#[test]
fn a_served_endpoint_tells_handlers_who_calls_and_others_where_to_get_a_token() {
    // R2506-AUTH-14, R2506-ATOK-03
    let service = Registry::new("test", "1")
        .tool(tool("whoami", |who: Principal, ex: Exchange| async move {
            let client = ex.client_info().map(|client| client.name);
            format!("{} by {}", who.identity(), client.unwrap_or_default())
        }))
        .build()
        .expect("valid");
    let user = Principal::subject("ada").with_scopes(["use"]);
    let guard = Guard::new(authorization(), StaticTokens::new().token(TOKEN, user).expect("one"));
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"probe","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let call = |token: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: \
             application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: whoami\r\nConnection: close\r\n{token}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let metadata = authorization().metadata_path().to_owned();
    for (request, status, within) in [
        (call(&format!("Authorization: Bearer {TOKEN}\r\n")), "200", "ada by probe"),
        (call(""), "401", "resource_metadata=\"https://h/.well-known/"),
        (call("Authorization: Bearer unknown-unknown-unknown\r\n"), "401", "invalid_token"),
        (
            format!("GET {metadata} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
            "200",
            r#""resource":"https://h/mcp""#,
        ),
    ] {
        let answer = served(service.clone(), guard.clone(), &request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.contains(within), "{answer}");
    }
}

/// What one connection answers to `request`.
fn served(service: Service, guard: Guard, request: &str) -> String {
    let time = VirtualTime::default();
    let (ours, mut theirs) = pair(1 << 16);
    let endpoint = Endpoint::builder(service.catalog().clone())
        .path("/mcp")
        .authorization(Authorization::clone(guard.authorization()))
        .build();
    let machine = Connection::new(endpoint, Instant::ZERO);
    let (sessions, hub) = (Arc::new(MemorySessionStore::new()), Arc::new(MemoryHub::new()));
    let host = Host::<_, Shared>::guarded(service, time.clone(), sessions, hub, Some(guard));
    let client = async {
        theirs.send(request.as_bytes()).await;
        theirs.receive_all().await
    };
    time.run(host.run(machine, ours, Extensions::new(), pending()), client).1
}
