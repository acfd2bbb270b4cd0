//! Questions from JSON: those that were stored, and those that a client is asked.

use core::fmt;

use super::{Form, FormError, FormSchema, InputRequest, Sampling, method};
use crate::frame::json::{self, Kind};
use crate::model::Json;
use crate::model::view::View;

/// What came is no question that this library can put to anyone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadQuestion {
    /// It is no object, has no method, or names a member twice.
    Shape,
    /// No client is asked by this method.
    UnknownMethod(String),
    /// There is no such mode of elicitation.
    UnknownMode(String),
    /// A member is missing, or not what it must be.
    Member(&'static str),
    /// The form is none.
    Form(FormError),
    /// The request to the model has a member that is missing, or not what it must be.
    Sampling,
}

impl fmt::Display for BadQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => f.write_str("a question is an object of `method` and `params`"),
            Self::UnknownMethod(method) => write!(f, "`{method:.40}` is no method of a question"),
            Self::UnknownMode(mode) => write!(f, "`{mode:.40}` is no mode of elicitation"),
            Self::Member(name) => write!(f, "`{name}` is missing or malformed"),
            Self::Form(error) => error.fmt(f),
            Self::Sampling => f.write_str("the parameters of sampling are malformed"),
        }
    }
}

impl core::error::Error for BadQuestion {}

impl InputRequest {
    /// Reads an object of `method` and `params` (R26-MRTR-06).
    ///
    /// # Errors
    /// Where it is no such question.
    pub fn read(question: &Json) -> Result<Self, BadQuestion> {
        Self::from_text(question.as_bytes())
    }

    /// As [`read`](Self::read), of a validated text.
    pub(crate) fn from_text(text: &[u8]) -> Result<Self, BadQuestion> {
        let object = View::of(text).ok_or(BadQuestion::Shape)?;
        let method = object.string("method").ok_or(BadQuestion::Shape)?;
        params_from_text(&method, object.get("params"))
    }

    /// Reads a question's parameters.
    ///
    /// # Errors
    /// Where they are none of that method.
    pub fn read_params(method: &str, params: Option<&Json>) -> Result<Self, BadQuestion> {
        params_from_text(method, params.map(Json::as_bytes))
    }
}

fn params_from_text(method: &str, params: Option<&[u8]>) -> Result<InputRequest, BadQuestion> {
    let params = View::of(params.unwrap_or(b"{}")).ok_or(BadQuestion::Shape)?;
    let text =
        |name: &'static str| params.string(name).map(String::from).ok_or(BadQuestion::Member(name));
    match method {
        // A missing mode is that of forms (R2511-ELIC-06).
        method::ELICIT => match params.get("mode").map(json::string) {
            None => read_form(&params, text("message")?),
            Some(Some(mode)) if mode == "form" => read_form(&params, text("message")?),
            Some(Some(mode)) if mode == "url" => {
                Ok(InputRequest::ElicitUrl { message: text("message")?, url: text("url")? })
            }
            Some(Some(mode)) => Err(BadQuestion::UnknownMode(mode.into())),
            Some(None) => Err(BadQuestion::Member("mode")),
        },
        method::SAMPLE => {
            let sampling = Sampling::read(&params).ok_or(BadQuestion::Sampling)?;
            Ok(sampling.into())
        }
        method::LIST_ROOTS => Ok(InputRequest::ListRoots),
        other => Err(BadQuestion::UnknownMethod(other.into())),
    }
}

fn read_form(params: &View<'_>, message: String) -> Result<InputRequest, BadQuestion> {
    let missing = BadQuestion::Member("requestedSchema");
    let schema = params.json("requestedSchema").ok_or(missing.clone())?;
    if schema.kind() != Kind::Object {
        return Err(missing);
    }
    let schema = FormSchema::from_json(schema).map_err(BadQuestion::Form)?;
    Ok(Form { message, schema }.into())
}
