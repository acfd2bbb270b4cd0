//! Records as JSON text.

use super::{Life, Record};
use crate::frame::json::{self, ScanLimits};
use crate::frame::writer::Object;
use crate::model::view::View;
use crate::model::{Binding, Digest, InputRequest, Json, Round, Settled};

/// Raised whenever older records can no longer be read.
const FORMAT: i64 = 1;

/// How deeply a record may nest: more than any message that was let in, with what is around it.
const DEPTH: usize = 1024;

pub(super) fn encode(record: &Record) -> Vec<u8> {
    let Record { round, life } = record;
    let mut out = Vec::new();
    let mut object = Object::begin(&mut out);
    object.number("format", FORMAT);
    object.string("operation", round.binding.operation.as_str());
    object.string_if("target", round.binding.target.as_deref());
    object.string("arguments", &round.binding.arguments.to_text());
    object.string_if("principal", round.binding.principal.as_deref());
    object.object("questions", |questions| {
        for (key, question) in &round.questions {
            questions.raw(key, question.stored().as_bytes());
        }
    });
    object.object("settled", |settled| {
        for (key, Settled { question, result }) in &round.settled {
            settled.object(key, |object| {
                object.raw("question", question.stored().as_bytes());
                object.raw("result", result.as_bytes());
            });
        }
    });
    object.raw_if("state", round.state.as_ref().map(Json::as_bytes));
    match life {
        Life::Open => {}
        Life::Claimed { answers, until_ms } => {
            object.object("claimed", |claimed| {
                claimed.string("answers", &answers.to_text()).number("untilMs", *until_ms);
            });
        }
        Life::Done { answers, outcome } => {
            object.object("done", |done| {
                done.string("answers", &answers.to_text()).raw("outcome", outcome.as_bytes());
            });
        }
    }
    object.end();
    out
}

pub(super) fn decode(text: &[u8]) -> Option<Record> {
    json::scan(text, &ScanLimits::depth(DEPTH)).ok()?;
    let record = View::of(text)?;
    if json::integer(record.get("format")?)? != FORMAT {
        return None;
    }
    let binding = Binding {
        operation: record.string("operation")?.parse().ok()?,
        target: optional(&record, "target")?,
        arguments: Digest::from_text(&record.string("arguments")?)?,
        principal: optional(&record, "principal")?,
    };
    let questions = by_key(record.get("questions")?, |text| InputRequest::from_text(text).ok())?;
    let settled = by_key(record.get("settled")?, |text| {
        let settled = View::of(text)?;
        let question = InputRequest::from_text(settled.get("question")?).ok()?;
        Some(Settled { question, result: settled.json("result")? })
    })?;
    let round = Round { binding, questions, settled, state: record.json("state") };
    Some(Record { round, life: life(&record)? })
}

fn life(record: &View<'_>) -> Option<Life> {
    match (record.get("claimed"), record.get("done")) {
        (None, None) => Some(Life::Open),
        (Some(claimed), None) => {
            let claimed = View::of(claimed)?;
            let until = core::str::from_utf8(claimed.get("untilMs")?).ok()?;
            Some(Life::Claimed { answers: answers(&claimed)?, until_ms: until.parse().ok()? })
        }
        (None, Some(done)) => {
            let done = View::of(done)?;
            Some(Life::Done { answers: answers(&done)?, outcome: done.json("outcome")? })
        }
        (Some(_), Some(_)) => None,
    }
}

fn answers(life: &View<'_>) -> Option<Digest> {
    Digest::from_text(&life.string("answers")?)
}

/// A string that may be absent, but must be one where it is there.
fn optional(record: &View<'_>, name: &str) -> Option<Option<String>> {
    match record.get(name) {
        None => Some(None),
        Some(text) => json::string(text).map(|text| Some(text.into())),
    }
}

fn by_key<T>(object: &[u8], read: impl Fn(&[u8]) -> Option<T>) -> Option<Vec<(String, T)>> {
    let object = View::of(object)?;
    object.iter().map(|(key, value)| Some((key.into(), read(value)?))).collect()
}
