use super::{Action, Carriage, Evidence, Learned, Negotiation, Step};
use crate::client::{ClientError, ErrorKind};
use crate::model::Json;
use crate::revision::{AdapterSet, Revision, ServerError};

fn error(code: i64, data: Option<&'static str>) -> ServerError {
    let data = data.map(|data| format!(r#","data":{data}"#)).unwrap_or_default();
    ServerError::read(format!(r#"{{"code":{code},"message":"no"{data}}}"#).as_bytes())
}

/// What a server gave, in a word or two.
fn evidence(text: &str) -> Evidence {
    let gone = || ClientError::maybe(ErrorKind::Connection("gone".into()));
    let (what, rest) = text.split_once(' ').unwrap_or((text, ""));
    let status = rest.parse().unwrap_or_default();
    let http = || ClientError::never(ErrorKind::Http { status, retry_after: None, said: None });
    match what {
        "discovered" => Evidence::Result(
            Json::parse(format!(r#"{{"supportedVersions":[{rest}],"capabilities":{{}}}}"#))
                .unwrap(),
        ),
        "greeted" => Evidence::Result(
            Json::parse(format!(r#"{{"protocolVersion":"{rest}","capabilities":{{}}}}"#)).unwrap(),
        ),
        "result" => Evidence::Result(Json::parse("{}").unwrap()),
        "rpc" => Evidence::Refused(error(rest.parse().unwrap(), None), None),
        "rpc-at" => {
            let (status, code) = rest.split_once(' ').unwrap();
            Evidence::Refused(error(code.parse().unwrap(), None), Some(status.parse().unwrap()))
        }
        "unsupported" => {
            let data = match rest {
                "modern" => r#"{"supported":["2026-07-28"],"requested":"x"}"#,
                "legacy" => r#"{"supported":["2025-11-25","2025-06-18"],"requested":"x"}"#,
                "older" => r#"{"supported":["2025-06-18"],"requested":"x"}"#,
                "other" => r#"{"supported":["2099-01-01"],"requested":"x"}"#,
                _ => r#"{"requested":"x"}"#,
            };
            Evidence::Refused(error(-32022, Some(data)), Some(400))
        }
        "http" => Evidence::Status(status, http()),
        "silence" => Evidence::Silence,
        "gone" => Evidence::Gone(gone()),
        "nonsense" => Evidence::Nonsense(ClientError::maybe(ErrorKind::Protocol("html".into()))),
        "endpoint" => Evidence::Endpoint,
        other => panic!("{other}"),
    }
}

fn told(step: &Step) -> String {
    match step {
        Step::Do(Action::Discover, at) => format!("discover@{}", at.adapter().version),
        Step::Do(Action::Initialize, at) => format!("initialize@{}", at.adapter().version),
        Step::Do(Action::Respawn, at) => format!("respawn@{}", at.adapter().version),
        Step::Do(Action::Seek, _) => "seek".into(),
        Step::Settled(adapter, carriage, _) => format!("{} {}", adapter.version, carriage.as_str()),
        Step::Failed(error) => match &error.kind {
            ErrorKind::Server { error, .. } => format!("failed {}", error.code),
            ErrorKind::Http { status, .. } => format!("failed http {status}"),
            ErrorKind::NoCommonVersion { .. } => "failed no common version".into(),
            ErrorKind::Connection(_) => "failed gone".into(),
            ErrorKind::TimedOut => "failed silence".into(),
            ErrorKind::BadReply(_) => "failed bad reply".into(),
            other => format!("failed {other}"),
        },
    }
}

/// The steps that a sequence of evidence leads through.
fn walk(set: &AdapterSet, carriage: Carriage, learned: Option<&str>, seen: &[&str]) -> String {
    let learned: Option<Learned> = learned.map(|text| text.parse().unwrap());
    let mut step = Negotiation::begin(set, carriage, learned.as_ref());
    let mut steps = vec![told(&step)];
    for text in seen {
        let Step::Do(_, negotiation) = step else { panic!("{seen:?}: over after {steps:?}") };
        step = negotiation.next(set, evidence(text));
        steps.push(told(&step));
    }
    assert!(!matches!(step, Step::Do(..)), "{seen:?}: not over after {steps:?}");
    steps.join(", ")
}

/// C22 and C23: every answer that a probe gets, and what follows from it.
#[test]
fn the_probe_s_answer_decides_the_era_and_nothing_else_does() {
    use Carriage::{Http, Stdio};
    let set = AdapterSet::default();
    let rows: &[(Carriage, &[&str], &str)] = &[
        // Modern servers.
        (Stdio, &[r#"discovered "2026-07-28""#], "2026-07-28 stdio"),
        (Http, &[r#"discovered "2026-07-28","2025-11-25""#], "2026-07-28 http"),
        (Http, &["discovered "], "2026-07-28 http"),
        // Those of both eras that offer only the older one (R26-VER-10).
        (
            Http,
            &[r#"discovered "2025-06-18""#, "greeted 2025-06-18"],
            "initialize@2025-06-18, 2025-06-18 http",
        ),
        (
            Http,
            &["unsupported legacy", "greeted 2025-11-25"],
            "initialize@2025-11-25, 2025-11-25 http",
        ),
        (
            Stdio,
            &["unsupported older", "greeted 2025-06-18"],
            "initialize@2025-06-18, 2025-06-18 stdio",
        ),
        (Http, &["unsupported other"], "failed no common version"),
        // One that offers what it refuses is asked once more.
        (
            Http,
            &["unsupported modern", r#"discovered "2026-07-28""#],
            "discover@2026-07-28, 2026-07-28 http",
        ),
        (
            Http,
            &["unsupported modern", "unsupported modern"],
            "discover@2026-07-28, failed no common version",
        ),
        (Http, &["unsupported nothing"], "failed no common version"),
        // Modern errors keep the client modern.
        (Http, &["rpc-at 400 -32020"], "failed -32020"),
        (Stdio, &["rpc -32021"], "failed -32021"),
        // Any other error is that of an old server.
        (Stdio, &["rpc -32601", "greeted 2025-11-25"], "initialize@2025-11-25, 2025-11-25 stdio"),
        (Stdio, &["rpc -32602", "greeted 2025-11-25"], "initialize@2025-11-25, 2025-11-25 stdio"),
        (Stdio, &["rpc -32600", "greeted 2025-11-25"], "initialize@2025-11-25, 2025-11-25 stdio"),
        (
            Http,
            &["rpc-at 400 -32000", "greeted 2025-06-18"],
            "initialize@2025-11-25, 2025-06-18 http",
        ),
        (
            Http,
            &["rpc-at 200 -32601", "greeted 2024-11-05"],
            "initialize@2025-11-25, 2024-11-05 http",
        ),
        (
            Http,
            &["rpc-at 404 -32601", "greeted 2025-03-26"],
            "initialize@2025-11-25, 2025-03-26 http",
        ),
        (Stdio, &["result", "greeted 2025-11-25"], "initialize@2025-11-25, 2025-11-25 stdio"),
        // Silence is bounded, and means an old server.
        (Http, &["silence", "greeted 2025-11-25"], "initialize@2025-11-25, 2025-11-25 http"),
        (Http, &["silence", "silence"], "initialize@2025-11-25, failed silence"),
        // A process that says nothing may not be talked to any more, and is started again, once.
        (Stdio, &["silence", "greeted 2025-06-18"], "respawn@2025-11-25, 2025-06-18 stdio"),
        (Stdio, &["silence", "silence"], "respawn@2025-11-25, failed silence"),
        (Stdio, &["silence", "gone"], "respawn@2025-11-25, failed gone"),
        // One that answers anything lives, until it ends.
        (
            Stdio,
            &["nonsense", "gone", "greeted 2025-11-25"],
            "initialize@2025-11-25, respawn@2025-11-25, 2025-11-25 stdio",
        ),
        (
            Stdio,
            &["rpc -32602", "gone", "gone"],
            "initialize@2025-11-25, respawn@2025-11-25, failed gone",
        ),
        // A process that ended is started again, once.
        (Stdio, &["gone", "greeted 2025-11-25"], "respawn@2025-11-25, 2025-11-25 stdio"),
        (Stdio, &["gone", "gone"], "respawn@2025-11-25, failed gone"),
        (Http, &["gone"], "failed gone"),
        // HTTP without a message: only what an old server would say.
        (Http, &["http 400", "greeted 2025-11-25"], "initialize@2025-11-25, 2025-11-25 http"),
        (Http, &["http 404", "greeted 2025-11-25"], "initialize@2025-11-25, 2025-11-25 http"),
        (Http, &["http 405", "greeted 2025-11-25"], "initialize@2025-11-25, 2025-11-25 http"),
        (Http, &["http 422", "greeted 2025-11-25"], "initialize@2025-11-25, 2025-11-25 http"),
        (Http, &["nonsense", "greeted 2025-11-25"], "initialize@2025-11-25, 2025-11-25 http"),
        (Http, &["http 401"], "failed http 401"),
        (Http, &["http 403"], "failed http 403"),
        (Http, &["http 429"], "failed http 429"),
        (Http, &["http 500"], "failed http 500"),
        (Http, &["http 503"], "failed http 503"),
        (Http, &["rpc-at 401 -32001"], "failed -32001"),
        (Http, &["rpc-at 503 -32603"], "failed -32603"),
        // The oldest transport (R26-COMPAT-02).
        (
            Http,
            &["http 404", "http 404", "endpoint", "greeted 2024-11-05"],
            "initialize@2025-11-25, seek, initialize@2025-11-25, 2024-11-05 http+sse",
        ),
        (
            Http,
            &["http 405", "http 405", "http 404"],
            "initialize@2025-11-25, seek, failed http 405",
        ),
        (Http, &["http 404", "http 401"], "initialize@2025-11-25, failed http 401"),
        (
            Http,
            &["http 404", "http 404", "endpoint", "http 404"],
            "initialize@2025-11-25, seek, initialize@2025-11-25, failed http 404",
        ),
        (
            Http,
            &["rpc-at 405 -32600", "rpc-at 405 -32600", "endpoint", "greeted 2024-11-05"],
            "initialize@2025-11-25, seek, initialize@2025-11-25, 2024-11-05 http+sse",
        ),
        (
            Http,
            &["rpc-at 400 -32601", "rpc-at 400 -32602", "http 405"],
            "initialize@2025-11-25, seek, failed -32602",
        ),
        (Http, &["rpc-at 200 -32601", "rpc-at 200 -32602"], "initialize@2025-11-25, failed -32602"),
        // What a handshake may answer (R24-LIFE-07, R24-LIFE-08, C19).
        (
            Stdio,
            &["rpc -32601", "greeted 2099-01-01"],
            "initialize@2025-11-25, failed no common version",
        ),
        (
            Stdio,
            &["rpc -32601", "greeted 2026-07-28"],
            "initialize@2025-11-25, failed no common version",
        ),
        (Stdio, &["rpc -32601", "result"], "initialize@2025-11-25, failed bad reply"),
        (
            Stdio,
            &["rpc -32601", "unsupported older", "greeted 2025-06-18"],
            "initialize@2025-11-25, initialize@2025-06-18, 2025-06-18 stdio",
        ),
        (Stdio, &["rpc -32601", "rpc -32602"], "initialize@2025-11-25, failed -32602"),
    ];
    for (carriage, seen, steps) in rows {
        let expected = format!("discover@2026-07-28, {steps}");
        assert_eq!(walk(&set, *carriage, None, seen), expected, "{carriage:?} {seen:?}");
    }
    println!("negotiations walked: {}", rows.len());
}

#[test]
fn what_was_learned_saves_the_probe_and_binds_nobody() {
    // R26-VER-06
    let set = AdapterSet::default();
    let walk = |learned, seen: &[&str]| walk(&set, Carriage::Http, Some(learned), seen);
    assert_eq!(
        walk("2025-06-18 http", &["greeted 2025-06-18"]),
        "initialize@2025-06-18, 2025-06-18 http"
    );
    assert_eq!(
        walk("2025-06-18 http", &["rpc -32601", r#"discovered "2026-07-28""#]),
        "initialize@2025-06-18, discover@2026-07-28, 2026-07-28 http"
    );
    assert_eq!(
        walk("2024-11-05 http+sse", &["endpoint", "greeted 2024-11-05"]),
        "seek, initialize@2024-11-05, 2024-11-05 http+sse"
    );
    assert_eq!(
        walk("2024-11-05 http+sse", &["http 405", r#"discovered "2026-07-28""#]),
        "seek, discover@2026-07-28, 2026-07-28 http"
    );
    // Trouble is no reason to begin from the beginning.
    for trouble in ["http 503", "http 401", "gone"] {
        assert!(walk("2024-11-05 http+sse", &[trouble]).starts_with("seek, failed"), "{trouble}");
    }
    // What is not spoken, or of another carriage, is no guess.
    for other in ["2099-01-01 http", "2025-06-18 stdio"] {
        assert!(walk(other, &["gone"]).starts_with("discover@2026-07-28"), "{other}");
    }
    for bad in ["", "2025-06-18", "2025-06-18 pigeon"] {
        assert!(bad.parse::<Learned>().is_err(), "{bad}");
    }
    assert_eq!(
        "2025-06-18 http+sse".parse::<Learned>().unwrap().to_string(),
        "2025-06-18 http+sse"
    );
}

#[test]
fn a_pinned_client_speaks_that_revision_or_none() {
    let one = |revision| AdapterSet::of([revision]).unwrap();
    let modern = one(Revision::V2026_07_28);
    assert_eq!(
        walk(&modern, Carriage::Stdio, None, &["rpc -32601"]),
        "discover@2026-07-28, failed -32601"
    );
    assert_eq!(
        walk(&modern, Carriage::Stdio, None, &["silence"]),
        "discover@2026-07-28, failed silence"
    );
    assert_eq!(walk(&modern, Carriage::Stdio, None, &["gone"]), "discover@2026-07-28, failed gone");
    let old = one(Revision::V2025_03_26);
    assert_eq!(
        walk(&old, Carriage::Http, None, &["greeted 2024-11-05"]),
        "initialize@2025-03-26, failed no common version"
    );
    assert_eq!(walk(&old, Carriage::Stdio, None, &["gone"]), "initialize@2025-03-26, failed gone");
}
