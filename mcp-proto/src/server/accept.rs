//! What kinds of reply a client takes.

use crate::frame::coding::quality;
use crate::frame::http1::Headers;

/// Which of the two kinds of reply a client takes (R2503-HTTP-06).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accept {
    pub(crate) json: bool,
    pub(crate) stream: bool,
}

impl Accept {
    /// Reads every `Accept` header leniently: wildcards, parameters, case and several lines are
    /// all in use (C32). No header at all accepts everything.
    pub(crate) fn read(headers: &impl Headers) -> Self {
        let mut accept = Self { json: false, stream: false };
        let mut present = false;
        for line in headers.get_all("accept") {
            present = true;
            for range in line.split(|&byte| byte == b',') {
                accept.add(range);
            }
        }
        if present { accept } else { Self { json: true, stream: true } }
    }

    /// Neither kind of reply is acceptable.
    pub(crate) fn is_nothing(self) -> bool {
        !self.json && !self.stream
    }

    fn add(&mut self, range: &[u8]) {
        let mut parts = range.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let media = parts.next().unwrap_or_default();
        if quality(parts) == 0 {
            return;
        }
        let is = |name: &str| media.eq_ignore_ascii_case(name.as_bytes());
        let any = is("*/*");
        self.json |= any || is("application/*") || is("application/json");
        self.stream |= any || is("text/*") || is("text/event-stream");
    }
}

/// Whether a `Content-Type` is JSON: by its essence, whatever its parameters, but only in UTF-8.
pub(crate) fn is_json(content_type: &[u8]) -> bool {
    let mut parts = content_type.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
    let essence = parts.next().unwrap_or_default();
    essence.eq_ignore_ascii_case(b"application/json")
        && parts.all(|parameter| {
            let Some((name, value)) = parameter.split_at_checked(8) else { return true };
            let value = value.strip_prefix(b"\"").unwrap_or(value);
            let value = value.strip_suffix(b"\"").unwrap_or(value);
            !name.eq_ignore_ascii_case(b"charset=")
                || value.eq_ignore_ascii_case(b"utf-8")
                || value.eq_ignore_ascii_case(b"utf8")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Lines(&'static [&'static str]);

    impl Headers for Lines {
        fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
            let own = name.eq_ignore_ascii_case("accept");
            self.0.iter().filter(move |_| own).map(|line| line.as_bytes())
        }
    }

    #[test]
    fn every_form_of_accept_in_the_wild_is_understood() {
        // C32
        let both = (true, true);
        for (lines, expected) in [
            (&["*/*"][..], both),
            (&["application/*, text/event-stream;q=0.5"], both),
            (&["application/json;charset=utf-8, text/event-stream"], both),
            (&["APPLICATION/JSON"], (true, false)),
            (&["application/json", "text/event-stream"], both),
            (&["application/json"], (true, false)),
            (&["text/event-stream"], (false, true)),
            (&[], both),
            (&["text/html"], (false, false)),
            (&[""], (false, false)),
            (&["application/json, text/event-stream;q=0"], (true, false)),
            (&["application/json, text/event-stream; Q=0.000"], (true, false)),
            (&["text/*;q=0.1"], (false, true)),
        ] {
            let accept = Accept::read(&Lines(lines));
            assert_eq!((accept.json, accept.stream), expected, "{lines:?}");
        }
    }

    #[test]
    fn json_is_recognised_by_its_essence_and_only_in_utf_8() {
        for (value, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json;charset=\"utf-8\"", true),
            ("application/json; charset=utf-16", false),
            ("application/json-rpc", false),
            ("text/plain", false),
            ("", false),
        ] {
            assert_eq!(is_json(value.as_bytes()), expected, "{value}");
        }
    }
}
