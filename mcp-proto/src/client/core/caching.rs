//! Results that are kept for as long as the server says.

use std::collections::BTreeMap;

use super::Core;
use crate::client::CallId;
use crate::model::{CacheScope, Change, Detail, Operation, Reply, Request};
use crate::revision::Adapter;
use crate::time::Instant;

/// Fresh results. They belong to one client and its credentials (R26-CACHE-08).
#[derive(Debug, Default)]
pub(super) struct Cache {
    kept: BTreeMap<Key, Kept>,
    bytes: usize,
}

/// Everything that a result depends on (R26-CACHE-04).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    operation: u8,
    target: Option<String>,
    cursor: Option<String>,
    whole: bool,
}

#[derive(Debug)]
struct Kept {
    reply: Reply,
    until: Instant,
}

/// What a request's result is kept under; `None` where it may not be kept.
pub(super) fn key(adapter: &Adapter, request: &Request) -> Option<Key> {
    let may = matches!(
        request.operation,
        Operation::ListTools
            | Operation::ListResources
            | Operation::ListResourceTemplates
            | Operation::ListPrompts
            | Operation::ReadResource
    );
    // R26-CACHE-05
    if !may || !adapter.envelope.cache_hints || request.answers.is_some() || request.meta.is_some()
    {
        return None;
    }
    let cursor = match &request.detail {
        Detail::Cursor(cursor) if !request.whole => Some(cursor.as_str().to_owned()),
        _ => None,
    };
    Some(Key {
        operation: request.operation as u8,
        target: request.target().map(str::to_owned),
        cursor,
        whole: request.whole,
    })
}

impl Core {
    /// The result that is kept for this request, if it is still fresh (R26-CACHE-06).
    pub(super) fn cached(&mut self, adapter: &Adapter, request: &Request) -> Option<Reply> {
        let key = key(adapter, request).filter(|_| self.config.cache)?;
        match self.cache.kept.get(&key) {
            Some(kept) if kept.until > self.now => Some(kept.reply.clone()),
            Some(_) => {
                self.cache.remove(&key);
                None
            }
            None => None,
        }
    }

    /// Keeps a result, as long as the server says. `until` is when the first of its pages is stale.
    pub(super) fn keep(&mut self, call: CallId, adapter: &Adapter, reply: &Reply, until: Instant) {
        let Some(found) = self.calls.get(&call) else { return };
        let key = key(adapter, &found.request).filter(|_| self.config.cache && found.rounds == 0);
        let (Some(key), true) = (key, until > self.now) else { return };
        let size = size(reply);
        let (most, most_bytes) = (self.config.limits.cached, self.config.limits.cached_bytes);
        if size > most_bytes || most == 0 {
            return;
        }
        self.cache.remove(&key);
        while self.cache.kept.len() >= most || self.cache.bytes + size > most_bytes {
            let soonest = self.cache.kept.iter().min_by_key(|(_, kept)| kept.until);
            let Some(soonest) = soonest.map(|(key, _)| key.clone()) else { return };
            self.cache.remove(&soonest);
        }
        self.cache.bytes += size;
        self.cache.kept.insert(key, Kept { reply: reply.clone(), until });
    }

    /// What is kept of this is stale (R26-CACHE-10).
    pub(super) fn forget_cached(&mut self, change: &Change) {
        let is_stale = |key: &Key| match change {
            Change::Tools => key.operation == Operation::ListTools as u8,
            Change::Prompts => key.operation == Operation::ListPrompts as u8,
            Change::Resources => {
                key.operation == Operation::ListResources as u8
                    || key.operation == Operation::ListResourceTemplates as u8
            }
            Change::Updated(uri) => {
                key.target.as_ref().is_some_and(|own| uri.starts_with(own.as_str()))
            }
        };
        self.cache.retain(|key, _| !is_stale(key));
    }

    pub(in crate::client) fn forget_private(&mut self) {
        self.cache.retain(|_, kept| kept.reply.cache.scope == CacheScope::Public);
    }
}

impl Cache {
    fn remove(&mut self, key: &Key) {
        if let Some(kept) = self.kept.remove(key) {
            self.bytes = self.bytes.saturating_sub(size(&kept.reply));
        }
    }

    fn retain(&mut self, keeps: impl Fn(&Key, &Kept) -> bool) {
        self.kept.retain(|key, kept| keeps(key, kept));
        self.bytes = self.kept.values().map(|kept| size(&kept.reply)).sum();
    }
}

/// About how much memory a result takes. Of a list the text of its last page is all that is left.
fn size(reply: &Reply) -> usize {
    const ENTRY: usize = 1_024;
    reply.raw.as_bytes().len() * 2 + reply.value.entries() * ENTRY
}
