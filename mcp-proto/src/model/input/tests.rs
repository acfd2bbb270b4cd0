mod against_jsonschema;
mod derived;
mod forms;
mod models;
mod round_trip;
mod written;

pub(crate) use round_trip::question;
