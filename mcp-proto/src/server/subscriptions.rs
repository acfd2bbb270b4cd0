//! What one session is subscribed to.

use crate::frame::json::{self, write_string};
use crate::frame::writer;
use crate::model::{Failure, FailureKind, Filter, Json};

/// The resources that a client subscribed to one by one, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Subscriptions(Vec<String>);

impl Subscriptions {
    /// One more, unless it is there already. All together hold no more than `most` bytes.
    ///
    /// # Errors
    /// Where there is no room for it.
    pub(crate) fn add(&mut self, uri: &str, most: usize) -> Result<(), Failure> {
        if self.0.iter().any(|own| own == uri) {
            return Ok(());
        }
        let held: usize = self.0.iter().map(String::len).sum();
        if self.0.len() >= Filter::MOST_URIS || held + uri.len() > most {
            let count = Filter::MOST_URIS;
            let why = format!(
                "too many subscriptions: at most {count}, of {most} bytes together; unsubscribe \
                 from some"
            );
            return Err(Failure::new(FailureKind::InvalidParams, why));
        }
        self.0.push(uri.to_owned());
        Ok(())
    }

    pub(crate) fn remove(&mut self, uri: &str) {
        self.0.retain(|own| own != uri);
    }

    /// Reads a list of them.
    pub(crate) fn read(list: &Json) -> Self {
        let uris = json::elements(list.as_bytes());
        Self(
            uris.filter_map(|uri| Some(json::string(uri.of(list.as_bytes()))?.into_owned()))
                .collect(),
        )
    }

    /// The list of them; `None` for none.
    pub(crate) fn to_json(&self) -> Option<Json> {
        let mut list = Vec::new();
        writer::array(&mut list, &self.0, |uri, out| write_string(out, uri));
        (!self.0.is_empty()).then(|| Json::scanned(list.into()))
    }

    /// What its client is told unasked: every list, and what it subscribed to.
    pub(crate) fn filter(&self) -> Filter {
        Filter { uris: self.0.clone(), ..Filter::lists() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_are_bounded_by_count_and_by_bytes_and_removed_ones_make_room() {
        let mut some = Subscriptions::default();
        for uri in ["a://1", "a://2", "a://1"] {
            some.add(uri, 12).unwrap();
        }
        assert_eq!(some.filter().uris, ["a://1", "a://2"]);
        assert_eq!(some.add("a://3", 12).unwrap_err().kind, FailureKind::InvalidParams);
        some.remove("a://1");
        some.add("a://3", 12).unwrap();
        let list = some.to_json().unwrap();
        assert_eq!(Subscriptions::read(&list).filter().uris, ["a://2", "a://3"]);
        assert_eq!(Subscriptions::default().to_json(), None);

        let mut many = Subscriptions::default();
        for n in 0..Filter::MOST_URIS {
            many.add(&n.to_string(), usize::MAX).unwrap();
        }
        assert!(many.add("one more", usize::MAX).is_err());
        assert!(many.add("7", usize::MAX).is_ok(), "it is there");
    }
}
