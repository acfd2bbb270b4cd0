//! What goes over the wire, line by line on stderr, without what is secret:
//!
//! ```text
//! 1 > POST http://127.0.0.1:8080/mcp
//! 1 > content-type: application/json
//! 1 > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}
//! 1 < 200 OK
//! ```
//!
//! The number is the exchange's; a process has none.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use http::{HeaderMap, Uri};
use mcp_proto::service::client::Wire;
use serde_json::Value;

use crate::terminal::Terminal;

pub(crate) struct Trace {
    terminal: Terminal,
    /// Lines that are not whole yet, by where they go before.
    begun: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Trace {
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self { terminal, begun: Mutex::default() }
    }

    pub(crate) fn tell(&self, wire: &Wire<'_>) {
        match wire {
            Wire::Request(id, request) => {
                let to = format!("{id} >");
                self.line(&to, &format!("{} {}", request.method(), shown(request.uri())));
                self.headers(&to, request.headers());
                self.bytes(&to, request.body());
                self.rest(&to);
            }
            Wire::Response(id, response) => {
                let from = format!("{id} <");
                self.line(&from, &response.status().to_string());
                self.headers(&from, response.headers());
            }
            Wire::Body(id, bytes) => self.bytes(&format!("{id} <"), bytes),
            Wire::Failed(id, error) => self.line(&format!("{id} !"), &error.to_string()),
            Wire::Over(id) => self.rest(&format!("{id} <")),
            Wire::Written(bytes) => self.bytes(">", bytes),
            Wire::Read(bytes) => self.bytes("<", bytes),
            _ => {}
        }
    }

    fn headers(&self, before: &str, headers: &HeaderMap) {
        for (name, value) in headers {
            let value = match value.is_sensitive() {
                true => HIDDEN.into(),
                false => String::from_utf8_lossy(value.as_bytes()),
            };
            self.line(before, &format!("{name}: {value}"));
        }
    }

    /// Tells the lines that are whole with these bytes.
    fn bytes(&self, before: &str, bytes: &[u8]) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let line = begun.entry(before.to_owned()).or_default();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.line(before, &without_secrets(&String::from_utf8_lossy(line)));
                line.clear();
            }
        }
    }

    /// Tells what was no whole line.
    fn rest(&self, before: &str) {
        let rest = self.begun.lock().unwrap_or_else(PoisonError::into_inner).remove(before);
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            self.line(before, &without_secrets(&String::from_utf8_lossy(&rest)));
        }
    }

    fn line(&self, before: &str, line: &str) {
        let line = line.trim_end();
        if !line.is_empty() {
            self.terminal.say(&format!("{before} {line}"));
        }
    }
}

const HIDDEN: &str = "[hidden]";

/// Members of JSON, and of URLs' queries, whose values are secrets: in lower case, without `_` and
/// `-`.
const SECRETS: [&str; 10] = [
    "accesstoken",
    "apikey",
    "authorization",
    "clientsecret",
    "idtoken",
    "password",
    "refreshtoken",
    "secret",
    "sessionid",
    "token",
];

fn is_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(|it| !matches!(it, '_' | '-')).collect();
    SECRETS.contains(&plain.to_ascii_lowercase().as_str())
}

fn shown(uri: &Uri) -> String {
    let host = uri.authority().map_or("", |it| it.as_str().rsplit('@').next().unwrap_or_default());
    let scheme = uri.scheme_str().map(|scheme| format!("{scheme}://")).unwrap_or_default();
    format!("{scheme}{host}{}", query_hidden(uri.path_and_query().map_or("/", |it| it.as_str())))
}

/// A line: a message, which an event of a stream may carry, or else the URL of an endpoint.
fn without_secrets(line: &str) -> String {
    let (field, text) = match line.strip_prefix("data:") {
        Some(data) => ("data: ", data.trim()),
        None => ("", line.trim()),
    };
    match serde_json::from_str::<Value>(text) {
        Ok(mut message) => match hide(&mut message) {
            true => format!("{field}{message}"),
            // With nothing to hide it is told as it is.
            false => format!("{field}{text}"),
        },
        Err(_) => format!("{field}{}", query_hidden(text)),
    }
}

/// Hides what is secret; says whether something was.
fn hide(value: &mut Value) -> bool {
    match value {
        Value::Object(members) => members.iter_mut().fold(false, |hidden, (name, value)| {
            let secret = is_secret(name) && value.is_string();
            if secret {
                *value = HIDDEN.into();
            }
            hide(value) | secret | hidden
        }),
        Value::Array(items) => items.iter_mut().fold(false, |hidden, item| hide(item) | hidden),
        _ => false,
    }
}

fn query_hidden(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let hidden = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={HIDDEN}"),
        _ => pair.to_owned(),
    });
    format!("{path}?{}", hidden.collect::<Vec<_>>().join("&"))
}
