//! What a session's record holds, and how it is written.

use bytes::Bytes;

use crate::frame::json;
use crate::frame::writer::Object;
use crate::model::{ClientProfile, Json, LogLevel, Text};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A session of a handshake revision: what `initialize` agreed on, and what was set since.
///
/// The record belongs to whichever worker reads it next, so it holds all that there is to know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    /// The negotiated version.
    pub(crate) version: Text,
    /// The client, with the log level that it set.
    pub(crate) client: ClientProfile,
    /// The application's values, untouched by the protocol.
    pub(crate) values: Option<Json>,
}

impl Session {
    pub(crate) fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(256);
        let mut record = Object::begin(&mut out);
        record.string("version", &self.version);
        record.raw_if("capabilities", self.client.declared.as_ref().map(Json::as_bytes));
        record.raw_if("info", self.client.info.as_ref().map(Json::as_bytes));
        record.string_if("level", self.client.log_level.map(LogLevel::as_str));
        record.raw_if("values", self.values.as_ref().map(Json::as_bytes));
        record.end();
        out.into()
    }

    /// Reads a record; `None` where it is not one of ours.
    pub(crate) fn decode(data: &Bytes) -> Option<Self> {
        json::scan(data, &json::ScanLimits::default()).ok()?;
        let members = json::members(data);
        let raw = |name| {
            let span = members.get(data, name)?;
            Some(Json::scanned(data.slice(span.start as usize..span.end as usize)))
        };
        let text = |name| json::string(members.get(data, name)?.of(data)).map(|it| it.into_owned());
        let mut client = ClientProfile::new(raw("capabilities"), raw("info"));
        client.log_level = text("level").and_then(|name| LogLevel::from_name(&name));
        Some(Self { version: Text::from(text("version")?), client, values: raw("values") })
    }
}

/// A session id of 256 random bits, in characters that a header may hold (R2503-SESS-02,
/// R2503-SESS-03).
pub(crate) fn mint(random: &[u8; 32]) -> String {
    URL_SAFE_NO_PAD.encode(random)
}

/// Whether `id` could be a session id at all: visible ASCII of a sane length (R2503-SESS-03).
pub(crate) fn is_well_formed(id: &[u8]) -> bool {
    (1..=128).contains(&id.len()) && id.iter().all(|byte| (0x21..=0x7e).contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let mut client = ClientProfile::new(
            Some(Json::parse(r#"{"elicitation":{}}"#).unwrap()),
            Some(Json::parse(r#"{"name":"c","version":"1"}"#).unwrap()),
        );
        client.log_level = Some(LogLevel::Error);
        let values = Some(Json::parse("{\"n\":1}").unwrap());
        let session = Session { version: "v1".into(), client, values };
        let back = Session::decode(&session.encode()).unwrap();
        assert_eq!(back.encode(), session.encode());
        assert!(back.client.capabilities.elicitation_form);
        assert_eq!(back.client.log_level, Some(LogLevel::Error));
    }

    #[test]
    fn what_is_no_record_is_none() {
        for data in ["", "[]", "{}", "{\"version\":1}", "nonsense"] {
            assert!(Session::decode(&Bytes::from(data)).is_none(), "{data}");
        }
    }

    #[test]
    fn ids_are_visible_ascii_and_differ_with_every_bit() {
        let (a, b) = (mint(&[0; 32]), mint(&[1; 32]));
        assert!(is_well_formed(a.as_bytes()) && a.len() >= 43 && a != b);
        for bad in ["", "a b", "a\u{7f}", "é"] {
            assert!(!is_well_formed(bad.as_bytes()), "{bad}");
        }
    }
}
