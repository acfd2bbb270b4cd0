//! Answers to request 2 that are not as they must be, and what becomes of the call.

/// What becomes of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Becomes {
    /// It has its result.
    Answered,
    /// The server's error, with this code.
    Refused(i64),
    /// An error of the protocol, whose text has this.
    Unreadable(&'static str),
}

use Becomes::{Answered, Refused, Unreadable};

pub(super) const ANSWERS: &[(&str, Becomes)] = &[
    // Null is absent.
    (r#"{"jsonrpc":"2.0","id":2,"result":null,"error":{"code":-5,"message":"no"}}"#, Refused(-5)),
    (r#"{"jsonrpc":"2.0","error":{"code":-5,"message":"no"},"id":2,"result":null}"#, Refused(-5)),
    (r#"{"jsonrpc":"2.0","id":2,"error":null,"result":{"content":[]}}"#, Answered),
    (r#"{"jsonrpc":"2.0","id":"2","result":{"content":[]},"error":null}"#, Answered),
    // Both is an error, and what the server says is told.
    (
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]},"error":{"code":1,"message":"disk full"}}"#,
        Unreadable("disk full"),
    ),
    (r#"{"jsonrpc":"2.0","id":2,"result":{},"error":"worn out"}"#, Unreadable("worn out")),
    // Errors that are not as they must be.
    (r#"{"jsonrpc":"2.0","id":2,"error":{"code":"E_FAIL","message":"boom"}}"#, Unreadable("boom")),
    (r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000}}"#, Unreadable("-32000")),
    (r#"{"jsonrpc":"2.0","id":2,"error":"plain"}"#, Unreadable("plain")),
    (r#"{"jsonrpc":"2.0","id":2,"error":{"code":1.5,"message":"half"}}"#, Unreadable("half")),
    // Lone surrogates, of either half.
    (
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a\ud83d"}]}}"#,
        Answered,
    ),
    (
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"\udc00b"}]}}"#,
        Answered,
    ),
    (r#"{"jsonrpc":"2.0","id":2,"error":{"code":-5,"message":"\ud800\ud800"}}"#, Refused(-5)),
    (r#"[{"jsonrpc":"2.0","id":2,"result":{"content":[],"\udfff":1}}]"#, Answered),
    // Numbers that are none.
    (r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"n":1e400}}"#, Unreadable("out of range")),
    (r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"n":-1e999}}"#, Unreadable("out of range")),
    (r#"{"jsonrpc":"2.0","result":{"n":NaN},"id":2}"#, Unreadable("not JSON")),
    (r#"[{"jsonrpc":"2.0","id":2,"result":{"content":[],"n":1e400}}]"#, Unreadable("out of range")),
    // The rest.
    (r#"{"jsonrpc":"1.0","id":2,"result":{"content":[]}}"#, Unreadable("jsonrpc")),
    (r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]},"result":{}}"#, Unreadable("named twice")),
];
