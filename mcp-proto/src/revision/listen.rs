//! What a client that listens is told.

use super::{Adapter, Published, notification};
use crate::frame::envelope::{RequestId, write_notification, write_result};
use crate::frame::json::write_string;
use crate::frame::writer::Object;
use crate::model::{Change, Filter};

/// Names the request that a notification belongs to (R26-META-14).
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

impl Adapter {
    /// Appends the notification of a change; tagged, where it belongs to a request that listens
    /// (R26-SUBS-06).
    pub fn write_change(
        &self,
        out: &mut Vec<u8>,
        change: &Change,
        subscription: Option<&RequestId>,
    ) {
        let (method, uri) = match change {
            Change::Tools => (notification::TOOLS_CHANGED, None),
            Change::Prompts => (notification::PROMPTS_CHANGED, None),
            Change::Resources => (notification::RESOURCES_CHANGED, None),
            Change::Updated(uri) => (notification::RESOURCE_UPDATED, Some(uri.as_str())),
        };
        let has_params = uri.is_some() || subscription.is_some();
        let params = has_params.then_some(|out: &mut Vec<u8>| {
            let mut params = Object::begin(out);
            params.string_if("uri", uri);
            if let Some(subscription) = subscription {
                tag(&mut params, subscription);
            }
            params.end();
        });
        write_notification(out, method, params);
    }

    /// Appends what of a filter was accepted (R26-SUBS-03, R26-SUBS-04).
    pub fn write_acknowledged(&self, out: &mut Vec<u8>, subscription: &RequestId, filter: &Filter) {
        let params = |out: &mut Vec<u8>| {
            let mut params = Object::begin(out);
            params.object("notifications", |accepted| write_filter(accepted, filter));
            tag(&mut params, subscription);
            params.end();
        };
        write_notification(out, notification::ACKNOWLEDGED, Some(params));
    }

    /// Appends the result that ends a request that listens, from the server's side
    /// (R26-SUBS-10).
    pub fn write_listen_end(
        &self,
        out: &mut Vec<u8>,
        published: &Published,
        subscription: &RequestId,
    ) {
        let server_info = published.server_info(self);
        write_result(out, subscription, |out: &mut Vec<u8>| {
            let mut meta = Vec::new();
            let mut object = Object::begin(&mut meta);
            object.raw(SUBSCRIPTION_ID, subscription.as_json());
            object.end();
            let meta = crate::model::Json::scanned(meta.into());
            self.close_result(Object::begin(out), None, Some(&meta), server_info);
        });
    }
}

/// The members of a filter (R26-SUBS-02).
pub(super) fn write_filter(members: &mut Object<'_>, filter: &Filter) {
    let flags = [
        ("toolsListChanged", filter.tools),
        ("promptsListChanged", filter.prompts),
        ("resourcesListChanged", filter.resources),
    ];
    for (name, _) in flags.into_iter().filter(|(_, wanted)| *wanted) {
        members.boolean(name, true);
    }
    if !filter.uris.is_empty() {
        members.array("resourceSubscriptions", &filter.uris, |uri, out| write_string(out, uri));
    }
}

fn tag(params: &mut Object<'_>, subscription: &RequestId) {
    params.object("_meta", |meta| {
        meta.raw(SUBSCRIPTION_ID, subscription.as_json());
    });
}
