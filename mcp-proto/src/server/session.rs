//! What a session's record holds, and how it is written.

use bytes::Bytes;

use super::Limits;
use super::intake::SHAKEN;
use super::subscriptions::Subscriptions;
use crate::frame::json;
use crate::frame::writer::Object;
use crate::model::{ClientProfile, Failure, FailureKind, Filter, Json, LogLevel, Text};
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
    /// Whose session it is, where that matters.
    pub(crate) owner: Option<String>,
    /// The resources that the client subscribed to: a list that is read where it is wanted, since
    /// calls do not want it.
    pub(crate) subscriptions: Option<Json>,
    /// The client has not said yet that its handshake is complete: it is told of nothing unasked.
    pub(crate) is_new: bool,
    /// The application's values, untouched by the protocol.
    pub(crate) values: Option<Json>,
}

/// Something that a request changes in its session.
#[derive(Clone, Debug)]
pub(crate) enum SessionChange {
    LogLevel(LogLevel),
    Subscribe(String),
    Unsubscribe(String),
    /// The client's handshake is complete (R24-LIFE-05).
    Complete,
    /// What a handshake settled, where the session is older than that; once, if so.
    Negotiated(Text, Box<ClientProfile>, bool),
}

impl Session {
    pub(crate) fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(256);
        let mut record = Object::begin(&mut out);
        record.string("version", &self.version);
        record.raw_if("capabilities", self.client.declared.as_ref().map(Json::as_bytes));
        record.raw_if("info", self.client.info.as_ref().map(Json::as_bytes));
        record.string_if("level", self.client.log_level.map(LogLevel::as_str));
        record.string_if("owner", self.owner.as_deref());
        if self.is_new {
            record.boolean("new", true);
        }
        record.raw_if("subscriptions", self.subscriptions.as_ref().map(Json::as_bytes));
        record.raw_if("values", self.values.as_ref().map(Json::as_bytes));
        record.end();
        out.into()
    }

    /// Reads a record; `None` where it is not one of ours.
    pub(crate) fn decode(data: &Bytes) -> Option<Self> {
        let members = json::scan(data, &json::ScanLimits::default()).ok()?.envelope;
        let raw = |name| {
            let span = members.get(data, name)?;
            Some(Json::scanned(data.slice(span.start as usize..span.end as usize)))
        };
        let text = |name| json::string(members.get(data, name)?.of(data)).map(|it| it.into_owned());
        let mut client = ClientProfile::new(raw("capabilities"), raw("info"));
        client.log_level = text("level").and_then(|name| LogLevel::from_name(&name));
        let version = members.get(data, "version")?;
        let version = Text::within(data, json::string(version.of(data))?);
        Some(Self {
            version,
            client,
            owner: text("owner"),
            subscriptions: raw("subscriptions"),
            is_new: members.get(data, "new").is_some(),
            values: raw("values"),
        })
    }

    /// What this session's client is told unasked: every list, and what it subscribed to.
    pub(crate) fn filter(&self) -> Filter {
        if self.is_new { Filter::default() } else { self.subscriptions().filter() }
    }

    fn subscriptions(&self) -> Subscriptions {
        self.subscriptions.as_ref().map(Subscriptions::read).unwrap_or_default()
    }

    /// Makes the change.
    ///
    /// # Errors
    /// Where a session does not hold so much, or was settled already. Nothing has changed then.
    pub(crate) fn apply(&mut self, change: &SessionChange, limits: &Limits) -> Result<(), Failure> {
        match change {
            SessionChange::LogLevel(level) => self.client.log_level = Some(*level),
            SessionChange::Subscribe(uri) => {
                let mut subscriptions = self.subscriptions();
                subscriptions.add(uri, limits.subscribed)?;
                self.subscriptions = subscriptions.to_json();
                // Who subscribes is done with the handshake, though word of it may have been lost.
                self.is_new = false;
            }
            SessionChange::Unsubscribe(uri) => {
                let mut subscriptions = self.subscriptions();
                subscriptions.remove(uri);
                self.subscriptions = subscriptions.to_json();
            }
            SessionChange::Complete => self.is_new = false,
            // Of two that come at once, the one that is kept first counts.
            SessionChange::Negotiated(.., true) if !self.version.is_empty() => {
                return Err(Failure::new(FailureKind::Malformed, SHAKEN));
            }
            SessionChange::Negotiated(version, client, _) => {
                self.is_new = true;
                self.version = version.clone();
                self.client = ClientProfile::clone(client);
            }
        }
        Ok(())
    }
}

/// Takes what a client says about itself, as far as it is kept: the capabilities, and who it is.
///
/// # Errors
/// Where it says more than [`Limits::client`].
pub(crate) fn introduced(
    client: &ClientProfile,
    limits: &Limits,
) -> Result<ClientProfile, Failure> {
    let size = |json: &Option<Json>| json.as_ref().map_or(0, |json| json.as_bytes().len());
    if size(&client.declared) + size(&client.info) <= limits.client {
        return Ok(client.clone());
    }
    let why = format!(
        "`capabilities` and `clientInfo` together have more than {} bytes; say less",
        limits.client
    );
    Err(Failure::new(FailureKind::InvalidParams, why))
}

impl SessionChange {
    /// Whether the session's stream must hear of it.
    pub(crate) fn concerns_streams(&self) -> bool {
        !matches!(self, Self::LogLevel(_))
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
        let session = Session {
            version: "v1".into(),
            client,
            owner: Some("sub:a".into()),
            subscriptions: Some(Json::parse(r#"["a://b","c\"d"]"#).unwrap()),
            is_new: false,
            values,
        };
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
