//! What a status says that came without a message.

use crate::auth::challenge::Bearer;
use crate::client::{ClientError, ErrorKind, Ran};
use crate::frame::http1::Headers;
use crate::frame::json;
use crate::model::View;

/// Nothing ran of what was refused as the client's own fault.
pub(super) fn refusal<H: Headers + ?Sized>(status: u16, headers: &H) -> ClientError {
    let challenges = challenges(headers);
    let kind = match status {
        401 => ErrorKind::Unauthorized { status, challenges },
        403 if wants_scope(headers) => ErrorKind::Unauthorized { status, challenges },
        _ => ErrorKind::Http { status, retry_after: retry_after(headers), said: None },
    };
    let ran = if status >= 500 { Ran::Maybe } else { Ran::Never };
    ClientError { kind, ran }
}

/// Adds what a refusal's body says, where that is for people to read.
pub(super) fn say(refusal: &mut ClientError, body: &[u8]) {
    if let ErrorKind::Http { said, .. } = &mut refusal.kind {
        *said = words(body).filter(|words| !words.is_empty());
    }
}

/// Whether credentials with more scopes would be accepted (RFC 6750, section 3.1). Any other 403
/// is no matter of credentials: a gate before the server refuses its name, or where it is called from.
fn wants_scope<H: Headers + ?Sized>(headers: &H) -> bool {
    let bearer = Bearer::find(headers.get_all("www-authenticate"));
    bearer.and_then(|bearer| bearer.error).is_some_and(|error| error == "insufficient_scope")
}

/// The text of a body, or of the member of a JSON object that is for people.
fn words(body: &[u8]) -> Option<String> {
    const MOST: usize = 200;
    let text = match json::scan(body, &json::ScanLimits::default()) {
        Ok(_) => {
            let object = View::of(body)?;
            let nested = object.object("error").and_then(|error| error.string("message"));
            let named = ["message", "error_description", "detail", "error"];
            nested.or_else(|| named.into_iter().find_map(|name| object.string(name)))?
        }
        Err(_) => String::from_utf8_lossy(body),
    };
    Some(text.trim().chars().take(MOST).collect())
}

/// The challenges of a refusal; a few of them, as they came.
fn challenges<H: Headers + ?Sized>(headers: &H) -> Vec<String> {
    const MOST: usize = 8;
    let values = headers.get_all("www-authenticate").take(MOST);
    values.map(|value| String::from_utf8_lossy(value).into_owned()).collect()
}

/// Seconds to wait before trying again. A date is not read: the machine has no clock.
fn retry_after<H: Headers + ?Sized>(headers: &H) -> Option<u64> {
    core::str::from_utf8(headers.get("retry-after")?).ok()?.trim().parse().ok()
}
