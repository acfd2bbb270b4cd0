//! What a status says that came without a message.

use crate::client::{ClientError, ErrorKind, Ran};
use crate::frame::http1::Headers;

/// Nothing ran of what was refused as the client's own fault.
pub(super) fn refusal<H: Headers + ?Sized>(status: u16, headers: &H) -> ClientError {
    let kind = match status {
        401 | 403 => ErrorKind::Unauthorized { status, challenges: challenges(headers) },
        _ => ErrorKind::Http { status, retry_after: retry_after(headers) },
    };
    let ran = if status >= 500 { Ran::Maybe } else { Ran::Never };
    ClientError { kind, ran }
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
