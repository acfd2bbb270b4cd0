//! Questions on the wire.

use super::{Adapter, AskBy, Published};
use crate::frame::envelope::{RequestId, write_request, write_result};
use crate::frame::writer::Object;
use crate::model::{ClientCapabilities, InputRequest, Unaskable};

impl Adapter {
    /// How this question reaches the client.
    pub const fn ask_by(&self, request: &InputRequest) -> AskBy {
        match request {
            InputRequest::Elicit(_) | InputRequest::ElicitUrl { .. } => self.ask_elicitation,
            InputRequest::Sample(_) | InputRequest::ListRoots => self.ask_sampling,
        }
    }

    /// Whether this question carries an id that a client may compare with those of questions on
    /// other connections (R2511-ELIC-17).
    pub const fn names_elicitation(&self, request: &InputRequest) -> bool {
        self.input.elicitation_id && matches!(request, InputRequest::ElicitUrl { .. })
    }

    /// Appends a question as a request of the server's own (R2506-ELIC-05, R24-SAMP-03). Where the
    /// question [is named](Self::names_elicitation) its name is `id`.
    ///
    /// # Errors
    /// Where this revision cannot put the question; nothing is appended then.
    pub fn write_ask(
        &self,
        out: &mut Vec<u8>,
        id: &RequestId,
        request: &InputRequest,
        client: &ClientCapabilities,
    ) -> Result<(), Unaskable> {
        let mut params = Vec::new();
        let unique = String::from_utf8_lossy(id.as_json());
        request.write_params(&mut params, &self.input, client, unique.trim_matches('"'))?;
        let params = (params != b"{}").then_some(params.as_slice());
        write_request(out, id, request.method(), params);
        Ok(())
    }

    /// Appends the result that asks (R26-MRTR-04 to R26-MRTR-06).
    ///
    /// # Errors
    /// Where this revision cannot put one of the questions; nothing is appended then.
    pub fn write_asked(
        &self,
        out: &mut Vec<u8>,
        published: &Published,
        id: &RequestId,
        requests: &[(String, InputRequest)],
        state: Option<&str>,
        client: &ClientCapabilities,
    ) -> Result<(), Unaskable> {
        for (_, request) in requests {
            request.check(&self.input)?;
        }
        let server_info = published.server_info(self);
        write_result(out, id, |out: &mut Vec<u8>| {
            let mut result = Object::begin(out);
            result.string("resultType", "input_required");
            if !requests.is_empty() {
                result.object("inputRequests", |object| {
                    for (key, request) in requests {
                        // Checked above, so it cannot fail halfway.
                        let _ = request.write_request(object.value(key), &self.input, client);
                    }
                });
            }
            result.string_if("requestState", state);
            super::project::meta_if(&mut result, None, server_info);
            result.end();
        });
        Ok(())
    }
}
