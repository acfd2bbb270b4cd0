//! A server over HTTP that was a good one, until it is called.

use mcp_proto::revision::Revision;

use super::play::Act::{Cut, Elsewhere, Encoded, End, Head, Opens, Say};
use super::play::{
    EVENTS, JSON, NOW, Row, at_once, error, event, for_ever, id, is, play, result, row,
};
use super::scene::{judge, known};
use super::{LATE, LONGEST, MESSAGE, NO_ANSWER, PATIENCE, SECOND, TOO_MUCH};

const A_PAGE: &str = "the server does not keep to the protocol: a body of type \"text/html\"";
const CIRCLE: &str = "the server redirects to \"http://h/b\" (status 307): one redirect too many";

#[test]
fn no_server_gets_more_than_its_share() {
    let rows = rows();
    judge(&rows, |row| known(row.revision));
    println!("hostile servers over HTTP: {}", rows.len());
}

fn rows() -> Vec<Row> {
    vec![
        row("a body without end", TOO_MUCH, (MESSAGE + 4_096, 1), |_, _| {
            for_ever([(NOW, Head(200, JSON)), (NOW, Say(" ".repeat(4_096)))])
        }),
        row("a stream of comments without end", LATE, (1 << 20, PATIENCE), |_, _| {
            for_ever([(NOW, Head(200, EVENTS)), (SECOND / 10, Say(": on\n\n".repeat(100)))])
        }),
        row("progress that never rises", LATE, (1 << 20, PATIENCE + 1), |open, _| {
            let note = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":1}}}}"#,
                id(open)
            );
            for_ever([(NOW, Head(200, EVENTS)), (SECOND, event(&note))])
        }),
        row("a huge event", TOO_MUCH, (5 * MESSAGE, 1), |_, _| {
            for_ever([(NOW, Head(200, EVENTS)), (NOW, Say("data: x\n".repeat(512)))])
        }),
        row("a huge line", TOO_MUCH, (MESSAGE + 8_192, 1), |_, _| {
            for_ever([(NOW, Head(200, EVENTS)), (NOW, Say("x".repeat(4_096)))])
        }),
        row("a wrong id", NO_ANSWER, (1_024, 0), |_, _| {
            let text = r#"{"jsonrpc":"2.0","id":99,"result":{"content":[]}}"#;
            at_once([Head(200, JSON), Say(text.into()), End])
        }),
        row("replies to nothing", LATE, (1 << 20, PATIENCE), |_, _| {
            let text = event(r#"{"jsonrpc":"2.0","id":"zz","result":{}}"#);
            for_ever([(NOW, Head(200, EVENTS)), (SECOND / 10, text)])
        }),
        row("an id of another type", "ok", (1_024, 0), |open, _| {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":"{}","result":{{"content":[]}}}}"#, id(open));
            at_once([Head(200, JSON), Say(text), End])
        }),
        row("an id that is no id", NO_ANSWER, (1_024, 0), |_, _| {
            let text = r#"{"jsonrpc":"2.0","id":[1],"result":{"content":[]}}"#;
            at_once([Head(200, JSON), Say(text.into()), End])
        }),
        row("a redirect to nowhere", "the server redirects to \"\"", (0, 0), |_, _| {
            at_once([Head(307, JSON), End])
        }),
        row("redirects in a circle", CIRCLE, (0, 0), |open, _| {
            let other = if open.target == "/a" { "/b" } else { "/a" };
            at_once([Elsewhere(307, other.into()), End])
        }),
        row("redirects without end", "the server redirects to ", (0, 0), |_, nth| {
            at_once([Elsewhere(308, format!("/{nth}")), End])
        }),
        row("a redirect with a body without end", CIRCLE, (1 << 20, 1), |_, _| {
            for_ever([(NOW, Elsewhere(307, "/b".into())), (SECOND / 10, Say(" ".repeat(4_096)))])
        }),
        row("a redirect to another origin", "the server redirects to", (0, 0), |_, _| {
            at_once([Elsewhere(307, "http://evil.example/".into()), End])
        }),
        row("a redirect that drops the call", "the server redirects to", (0, 0), |_, _| {
            at_once([Elsewhere(303, "/b".into()), End])
        }),
        row("a slow drip", LATE, (1_024, PATIENCE), |_, _| {
            for_ever([(NOW, Head(200, JSON)), (SECOND, Say(" ".into()))])
        }),
        row("no head at all", LATE, (0, PATIENCE), |_, _| play([])),
        row("a body cut short", "cut", (1_024, 0), |open, _| {
            let text = result(open, r#"{"content":[]}"#);
            at_once([Head(200, JSON), Say(text[..20].into()), Cut])
        }),
        row(
            "a stream that ends early",
            "the stream ended before the answer",
            (1_024, 0),
            |_, _| at_once([Head(200, EVENTS), Say("data: {\"jsonrpc\"".into()), End]),
        ),
        row(
            "gzip when not asked",
            "the server does not keep to the protocol: a body in the coding \"gzip\"",
            (0, 0),
            |_, _| at_once([Encoded(EVENTS), End]),
        ),
        row(
            "gzip of JSON when not asked",
            "the server does not keep to the protocol: a body in the coding",
            (1_024, 0),
            |_, _| at_once([Encoded(JSON), Say("\u{1f}\u{8b}".into()), End]),
        ),
        row("200 with a page", A_PAGE, (0, 0), |_, _| {
            at_once([Head(200, "text/html"), Say("<html>".into()), End])
        }),
        row("a page without end", A_PAGE, (0, 0), |_, _| {
            for_ever([(NOW, Head(200, "text/html")), (SECOND / 10, Say("x".repeat(65_536)))])
        }),
        row("lines that end in CR, and split UTF-8", "ok", (1_024, 0), |open, _| {
            let text = result(open, r#"{"content":[{"type":"text","text":"é"}]}"#);
            at_once([Head(200, EVENTS), Say(format!("data: {text}\r\r"))])
        }),
        row(
            "`retry: 0` and nothing new",
            "the stream ended before the answer",
            (1_024, 30),
            |_, _| at_once([Head(200, EVENTS), Say("id: 1\nretry: 0\ndata:\n\n".into()), End]),
        )
        .at(Revision::V2025_11_25),
        row("`retry: 0` and always a new id", LATE, (64 << 10, PATIENCE), |_, nth| {
            at_once([Head(200, EVENTS), Say(format!("id: {nth}\nretry: 0\ndata:\n\n")), End])
        })
        .at(Revision::V2025_11_25),
        row("a state without questions for ever", LATE, (64 << 10, LONGEST), |open, _| {
            let text = result(open, r#"{"resultType":"input_required","requestState":"s"}"#);
            at_once([Head(200, JSON), Say(text), End])
        }),
        row("questions for ever", "the server asks without end", (64 << 10, 1), |open, _| {
            let asks =
                r#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#;
            at_once([Head(200, JSON), Say(result(open, asks)), End])
        }),
        row(
            "questions by the thousand",
            "the server sent too much: questions",
            (MESSAGE, 0),
            |open, _| {
                let asks: Vec<_> =
                    (0..1_000).map(|n| format!(r#""{n}":{{"method":"roots/list"}}"#)).collect();
                let asks = format!(
                    r#"{{"resultType":"input_required","inputRequests":{{{}}}}}"#,
                    asks.join(",")
                );
                at_once([Head(200, JSON), Say(result(open, &asks)), End])
            },
        ),
        row("a cursor that repeats", "ok", (4_096, 0), |open, _| {
            at_once([Head(200, JSON), Say(result(open, r#"{"tools":[],"nextCursor":"x"}"#)), End])
        })
        .lists(),
        row(
            "pages without end",
            "the server sent too much: pages of a list",
            (256 << 10, 0),
            |open, nth| {
                let page = format!(r#"{{"tools":[],"nextCursor":"{nth}"}}"#);
                at_once([Head(200, JSON), Say(result(open, &page)), End])
            },
        )
        .lists(),
        row(
            "tools by the million",
            "the server sent too much: entries of a list",
            (24 << 20, 0),
            |open, nth| {
                let tool = |n: usize| {
                    format!(r#"{{"name":"t{nth}-{n}","inputSchema":{{"type":"object"}}}}"#)
                };
                let tools: Vec<_> = (0..1_000).map(tool).collect();
                let page = format!(r#"{{"tools":[{}],"nextCursor":"{nth}"}}"#, tools.join(","));
                at_once([Head(200, JSON), Say(result(open, &page)), End])
            },
        )
        .lists(),
        row("JSON that nests without end", NO_ANSWER, (MESSAGE, 0), |_, _| {
            at_once([Head(200, JSON), Say("[".repeat(50_000)), End])
        }),
        row("a member twice", NO_ANSWER, (1_024, 0), |open, _| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":{0},"id":{0},"result":{{"content":[]}}}}"#,
                id(open)
            );
            at_once([Head(200, JSON), Say(text), End])
        }),
        row("ids that are no ids", NO_ANSWER, (1_024, 0), |open, _| {
            let one = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#);
            let own = id(open);
            let wrong = [format!("{own}.5"), "true".into(), "{}".into(), "null".into()];
            let all = wrong.map(|id| event(&one(id)));
            at_once([Head(200, EVENTS)].into_iter().chain(all).chain([Head(200, JSON), End]))
        }),
        row(
            "a session that is lost for ever",
            "the server lost the session",
            (1_024, 1),
            |open, _| match is(open, "initialize") {
                true => {
                    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;
                    at_once([Opens(JSON), Say(result(open, hello)), End])
                }
                false => at_once([Head(404, JSON), End]),
            },
        )
        .at(Revision::V2025_11_25),
        row(
            "headers that differ for ever",
            "the server answered with error -32020",
            (1_024, 1),
            |open, _| match is(open, "tools/list") {
                true => at_once([Head(200, JSON), Say(result(open, r#"{"tools":[]}"#)), End]),
                false => at_once([Head(400, JSON), Say(error(open, -32020, "{}")), End]),
            },
        ),
        row(
            "tools without end while headers differ",
            "the server sent too much: pages of a list",
            (256 << 10, 1),
            |open, nth| match is(open, "tools/list") {
                true => {
                    let page = format!(r#"{{"tools":[],"nextCursor":"{nth}"}}"#);
                    at_once([Head(200, JSON), Say(result(open, &page)), End])
                }
                false => at_once([Head(400, JSON), Say(error(open, -32020, "{}")), End]),
            },
        ),
        row(
            "credentials that are never right",
            "the server wants other credentials (status 401)",
            (0, 0),
            |_, _| at_once([Head(401, JSON), End]),
        ),
        row("a batch without end", NO_ANSWER, (MESSAGE, 0), |_, _| {
            at_once([Head(200, JSON), Say(format!("[{}{{}}]", "{},".repeat(1_000))), End])
        })
        .at(Revision::V2025_03_26),
        row("pushed questions without end", LATE, (1 << 20, PATIENCE), |_, _| {
            let asks = (0..1_000).map(|n| {
                let text = format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"roots/list"}}"#);
                (SECOND / 50, event(&text))
            });
            play([(NOW, Head(200, EVENTS))].into_iter().chain(asks))
        })
        .at(Revision::V2025_11_25),
        row("notifications that are none", LATE, (1 << 20, PATIENCE), |_, _| {
            let text = r#"{"jsonrpc":"2.0","method":"notifications/message","params":"x"}"#;
            for_ever([(NOW, Head(200, EVENTS)), (SECOND / 100, event(text))])
        }),
    ]
}
