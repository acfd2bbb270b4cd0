//! Where a call comes from, for who follows it through several programs.

use core::fmt;

use super::view::View;

/// A call's trace context, as its client sent it in `_meta`: `traceparent` and `tracestate` of
/// W3C Trace Context, and `baggage` of W3C Baggage (R26-META-15). All of it is what the client
/// says, and nothing else vouches for it.
#[derive(Clone, PartialEq, Eq)]
pub struct TraceContext {
    parent: Option<String>,
    state: Option<String>,
    baggage: Option<String>,
}

impl TraceContext {
    /// Reads the members of a `_meta` object. `None` where it has none of them; a parent that is
    /// malformed counts as none, and so does the state without its parent.
    pub(crate) fn read(meta: &View<'_>) -> Option<Self> {
        let string = |name| Some(meta.string(name)?.into_owned());
        let parent = string("traceparent").filter(|parent| is_parent(parent));
        let state = parent.as_ref().and_then(|_| string("tracestate"));
        let baggage = string("baggage");
        (parent.is_some() || baggage.is_some()).then_some(Self { parent, state, baggage })
    }

    /// `traceparent`, well-formed: a version, the trace's id, the id of the span that called, and
    /// flags.
    pub fn traceparent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// `tracestate`: what tracing systems add for themselves.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// `baggage`: what the application's callers hand on. It may hold secrets.
    pub fn baggage(&self) -> Option<&str> {
        self.baggage.as_deref()
    }

    /// The trace's id: 32 hexadecimal digits.
    pub fn trace_id(&self) -> Option<&str> {
        self.part(1)
    }

    /// The id of the span that called: 16 hexadecimal digits.
    pub fn parent_id(&self) -> Option<&str> {
        self.part(2)
    }

    /// Whether the caller records this trace.
    pub fn is_sampled(&self) -> bool {
        let flags = self.part(3).and_then(|flags| u8::from_str_radix(flags, 16).ok());
        flags.is_some_and(|flags| flags & 1 == 1)
    }

    fn part(&self, number: usize) -> Option<&str> {
        self.parent.as_ref()?.split('-').nth(number)
    }
}

impl fmt::Debug for TraceContext {
    /// Hides the baggage: it may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceContext").field("traceparent", &self.parent).finish_non_exhaustive()
    }
}

/// Whether `text` is a `traceparent`. Later versions may have further parts.
fn is_parent(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut hex = |length: usize| {
        let part = parts.next().unwrap_or_default();
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (part.len() == length && part.bytes().all(is_hex)).then_some(part)
    };
    let (Some(version), Some(trace), Some(parent), Some(_)) = (hex(2), hex(32), hex(16), hex(2))
    else {
        return false;
    };
    let is_nothing = |id: &str| id.bytes().all(|byte| byte == b'0');
    let ends = parts.next().is_none() || version != "00";
    version != "ff" && !is_nothing(trace) && !is_nothing(parent) && ends
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn read(meta: &str) -> Option<TraceContext> {
        TraceContext::read(&View::of(meta.as_bytes())?)
    }

    /// R26-META-15.
    #[test]
    fn a_trace_context_is_read_by_its_parts() {
        let meta =
            format!(r#"{{"traceparent":"{PARENT}","tracestate":"a=1,b=2","baggage":"user=ada"}}"#);
        let trace = read(&meta).expect("a context");
        assert_eq!(trace.traceparent(), Some(PARENT));
        assert_eq!(trace.trace_id(), Some("0af7651916cd43dd8448eb211c80319c"));
        assert_eq!(trace.parent_id(), Some("b7ad6b7169203331"));
        assert_eq!((trace.tracestate(), trace.baggage()), (Some("a=1,b=2"), Some("user=ada")));
        assert!(trace.is_sampled() && !format!("{trace:?}").contains("ada"));
        let not_sampled = PARENT.replace("-01", "-00");
        assert!(!read(&format!(r#"{{"traceparent":"{not_sampled}"}}"#)).unwrap().is_sampled());
    }

    #[test]
    fn a_malformed_parent_is_none_and_takes_its_state_with_it() {
        for bad in [
            "",
            "00",
            &PARENT.to_uppercase(),
            &PARENT.replace("00-", "ff-"),
            &PARENT.replace("b7ad6b7169203331", "0000000000000000"),
            &PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            &PARENT.replace("0af7", ""),
            &format!("{PARENT}-more"),
        ] {
            let meta = format!(r#"{{"traceparent":"{bad}","tracestate":"a=1"}}"#);
            assert_eq!(read(&meta), None, "{bad}");
            let trace = read(&meta.replace('}', r#","baggage":"a=1"}"#)).expect("baggage");
            assert_eq!((trace.traceparent(), trace.tracestate()), (None, None), "{bad}");
        }
        let later = PARENT.replace("00-", "01-") + "-more";
        assert!(read(&format!(r#"{{"traceparent":"{later}"}}"#)).is_some());
        assert_eq!(read(r#"{"traceparent":7,"tracestate":"a=1","baggage":[]}"#), None);
    }
}
