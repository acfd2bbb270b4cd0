//! What the operator of a server may want to know, and no peer is told.

use core::fmt;

use super::{HttpRefusal, HttpRequest};
use crate::frame::http1::Refusal;
use crate::revision::{ReadBound, Refused};

/// Something for the server's log. Displays as one line, which says how to change it; what a peer
/// sent is escaped in it, and shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A request was refused, since it named this host; see
    /// [`Gate::allow_host`](super::Gate::allow_host).
    Host(String),
    /// A request was refused, since a page of this origin made it; see
    /// [`Gate::allow_origin`](super::Gate::allow_origin).
    Origin(String),
    /// A bound was reached.
    Bound(Bound),
    /// Input was skipped, since it could not be answered. A machine says so once in a second.
    Skipped {
        /// What was wrong with it.
        why: String,
        /// How much more was skipped since the last notice.
        others: u64,
    },
}

/// A bound that was reached, named by its setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// [`http1::Limits::head`](crate::frame::http1::Limits::head) or `headers`.
    Head,
    /// [`http1::Limits::target`](crate::frame::http1::Limits::target).
    Target,
    /// [`Limits::message`](super::Limits::message), or
    /// [`http1::Limits::body`](crate::frame::http1::Limits::body).
    Message,
    /// [`Limits::depth`](super::Limits::depth).
    Depth,
    /// [`Limits::batch`](super::Limits::batch).
    Batch,
    /// [`Limits::in_flight`](super::Limits::in_flight) and `parked`.
    Parked,
    /// [`http1::Limits::head_time`](crate::frame::http1::Limits::head_time) or `body_time`.
    Time,
    /// As many connections, or exchanges of a mounted service, are open as may be at once.
    Connections,
    /// One peer has as many connections open as it may.
    PeerConnections,
    /// A peer took nothing of what was written to it for too long.
    Unread,
    /// [`Limits::held`](super::Limits::held): a connection was given up.
    Held,
    /// [`Limits::queued_bytes`](super::Limits::queued_bytes): a notification was left out.
    Queued,
}

/// The most of what a peer sent that is shown.
const SHOWN: usize = 100;

impl Notice {
    /// What to say of a refusal. Most are of no interest to anybody but the peer.
    pub(super) fn of(refusal: &HttpRefusal, head: &impl HttpRequest) -> Option<Self> {
        match refusal {
            HttpRefusal::Host => Some(Self::Host(shown(head.authority().unwrap_or_default()))),
            HttpRefusal::Origin => {
                let origin = head.get("origin").unwrap_or_default();
                Some(Self::Origin(shown(&String::from_utf8_lossy(origin))))
            }
            HttpRefusal::Framing(refusal) => Self::of_framing(*refusal),
            _ => None,
        }
    }

    /// The same of what cannot be read.
    pub(super) fn of_message(refused: &Refused) -> Option<Self> {
        Some(Self::Bound(match refused.exceeds? {
            ReadBound::Depth => Bound::Depth,
            ReadBound::Batch => Bound::Batch,
        }))
    }

    /// The same of what framing refused.
    pub(super) fn of_framing(refusal: Refusal) -> Option<Self> {
        let bound = match refusal {
            Refusal::HeadTooLarge => Bound::Head,
            Refusal::TargetTooLong => Bound::Target,
            Refusal::BodyTooLarge => Bound::Message,
            Refusal::Timeout => Bound::Time,
            _ => return None,
        };
        Some(Self::Bound(bound))
    }
}

fn shown(text: &str) -> String {
    let short = text.chars().take(SHOWN).flat_map(char::escape_default);
    let more = if text.chars().nth(SHOWN).is_some() { ".." } else { "" };
    short.chain(more.chars()).collect()
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) if host.is_empty() => {
                f.write_str("refused a request that names no host (403)")
            }
            Self::Host(host) => write!(
                f,
                "refused a request for the host `{host}` (403); if that is this server, allow it \
                 with `Gate::allow_host`"
            ),
            Self::Origin(origin) => write!(
                f,
                "refused a request of a page from `{origin}` (403); if that is to be let in, \
                 allow it with `Gate::allow_origin`"
            ),
            Self::Bound(bound) => bound.fmt(f),
            Self::Skipped { why, others: 0 } => write!(f, "input was skipped: {why}"),
            Self::Skipped { why, others } => {
                write!(f, "input was skipped: {why} (and {others} more since the last notice)")
            }
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => {
                "refused a request whose head is too large (431); the bounds are `head` and \
                 `headers` of `Limits::http`"
            }
            Self::Target => {
                "refused a request whose target is too long (414); the bound is `target` of \
                 `Limits::http`"
            }
            Self::Message => {
                "refused a message that is too large; the bounds are `Limits::message` and `body` \
                 of `Limits::http`"
            }
            Self::Depth => "refused a message that nests too deeply; the bound is `Limits::depth`",
            Self::Batch => "refused a batch of too many messages; the bound is `Limits::batch`",
            Self::Parked => {
                "refused a call, since too many are under way; the bounds are `Limits::in_flight` \
                 and `Limits::parked`"
            }
            Self::Time => {
                "refused a request that took too long to arrive (408); the bounds are `head_time` \
                 and `body_time` of `Limits::http`"
            }
            Self::Connections => {
                "as many connections are open as may be at once; the bound is `connections`"
            }
            Self::PeerConnections => {
                "closed a connection, since its peer has as many as it may; the bound is \
                 `connections_per_peer`"
            }
            Self::Unread => "gave up a connection whose peer took nothing of what it was sent",
            Self::Held => {
                "gave up a connection that moved nothing for longest, since all together hold too \
                 much; the bound is `Limits::held`"
            }
            Self::Queued => {
                "left out notifications, since a client does not read its stream; the bound is \
                 `Limits::queued_bytes`"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_peer_sent_is_shown_escaped_and_short() {
        for (sent, expected) in [
            ("https://app.example", "https://app.example"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\r\nb", "a\\r\\nb"),
            ("\u{202e}", "\\u{202e}"),
            ("\u{9b}", "\\u{9b}"),
        ] {
            let line = Notice::Origin(shown(sent)).to_string();
            assert!(line.contains(&format!("`{expected}`")), "{line}");
        }
        let line = Notice::Host(shown(&"x".repeat(300))).to_string();
        assert!(line.contains(&format!("`{}..`", "x".repeat(SHOWN))), "{line}");
    }
}
