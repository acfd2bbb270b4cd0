//! Questions in JSON.

use super::{InputFields, InputRequest, Unaskable, format};
use crate::frame::writer::Object;
use crate::model::{ClientCapabilities, Json};

impl InputRequest {
    /// Whether a revision with these fields can put the question.
    ///
    /// # Errors
    /// Why it cannot, in words for whoever wrote the handler.
    pub fn check(&self, fields: &InputFields) -> Result<(), Unaskable> {
        match self {
            Self::Elicit(form) => form.schema.check(fields),
            Self::ElicitUrl { .. } if !fields.modes => Err(Unaskable::UrlMode),
            Self::ElicitUrl { url, .. } if !format::uri(url) => {
                Err(Unaskable::BadUrl { url: url.clone() })
            }
            Self::Sample(sampling) => sampling.check(fields),
            Self::ElicitUrl { .. } | Self::ListRoots => Ok(()),
        }
    }

    /// Appends the question's `params` as a revision with these fields says them to this client.
    /// `elicitation_id` is unique in the server, and used where the revision has such ids
    /// (R2511-ELIC-17).
    ///
    /// # Errors
    /// As [`check`](Self::check); nothing is appended then.
    pub fn write_params(
        &self,
        out: &mut Vec<u8>,
        fields: &InputFields,
        client: &ClientCapabilities,
        elicitation_id: &str,
    ) -> Result<(), Unaskable> {
        self.check(fields)?;
        self.write(out, fields, client.sampling_context, elicitation_id);
        Ok(())
    }

    /// Appends the question as an object of `method` and `params`, as results that ask hold it
    /// (R26-MRTR-06).
    ///
    /// # Errors
    /// As [`check`](Self::check); nothing is appended then.
    pub fn write_request(
        &self,
        out: &mut Vec<u8>,
        fields: &InputFields,
        client: &ClientCapabilities,
    ) -> Result<(), Unaskable> {
        self.check(fields)?;
        self.request(out, fields, client.sampling_context);
        Ok(())
    }

    /// The question as it is stored: with all that it holds, so that
    /// [`read`](Self::read) gives an equal one.
    pub fn stored(&self) -> Json {
        let mut out = Vec::new();
        self.request(&mut out, &InputFields::ALL, true);
        Json::scanned(out.into())
    }

    fn request(&self, out: &mut Vec<u8>, fields: &InputFields, context: bool) {
        let mut object = Object::begin(out);
        object.string("method", self.method());
        self.write(object.value("params"), fields, context, "");
        object.end();
    }

    fn write(&self, out: &mut Vec<u8>, fields: &InputFields, context: bool, elicitation_id: &str) {
        let mut params = Object::begin(out);
        match self {
            Self::Elicit(form) => {
                params.string_if("mode", fields.modes.then_some("form"));
                params.string("message", &form.message);
                form.schema.write(fields, params.value("requestedSchema"));
            }
            Self::ElicitUrl { message, url } => {
                params.string("mode", "url").string("message", message).string("url", url);
                let id = fields.elicitation_id.then_some(elicitation_id);
                params.string_if("elicitationId", id);
            }
            Self::Sample(sampling) => sampling.write(&mut params, fields, context),
            Self::ListRoots => {}
        }
        params.end();
    }
}
