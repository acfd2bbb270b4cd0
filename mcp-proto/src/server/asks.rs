//! Questions that are put to the client while a call goes on, and answered by whichever worker
//! the answer reaches.

use super::core::Core;
use super::pending::Waiting;
use super::{Answered, AskId, CallId};
use crate::effect::{Effect, Reply};
use crate::frame::envelope::RequestId;
use crate::frame::json;
use crate::frame::writer::Object;
use crate::model::{InputRequest, Json};
use crate::revision::{self, Adapter};
use crate::store::{Cursor, HubOp, Polled, Read, SessionOp};
use crate::time::Instant;
use bytes::Bytes;
use core::time::Duration;

/// How long an answer waits for the worker that asked.
const ANSWER_TTL: Duration = Duration::from_secs(60);

/// One question. Its record lives as long as an answer counts.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) id: AskId,
    pub(crate) call: CallId,
    pub(crate) adapter: Adapter,
    pub(crate) request: InputRequest,
    session: String,
    until: Instant,
    step: Step,
}

#[derive(Clone, Debug)]
enum Step {
    /// An id that nobody can guess.
    Minting,
    /// Where answers will appear, taken before anybody can answer.
    Positioning { question: String },
    /// The record that makes answers count.
    Keeping { question: String, cursor: Cursor },
    /// The question was sent.
    Waiting { question: String, cursor: Cursor },
}

/// What is to be done about a question.
#[derive(Debug)]
pub(crate) enum Progress {
    /// Nothing yet.
    Waits,
    /// Send it under this id.
    Send(RequestId),
    /// It is over. The id is that of a request that the client still shows, to be withdrawn.
    Over(Answered, Option<RequestId>),
}

impl Ask {
    /// Begins to put `request` to the client of `session`.
    pub(crate) fn begin(
        core: &mut Core,
        (id, call): (AskId, CallId),
        adapter: Adapter,
        session: &str,
        request: InputRequest,
    ) -> Self {
        core.emit(Effect::Random, Waiting::Ask(id));
        let until = core.now + core.endpoint.limits().ask;
        let (session, step) = (session.to_owned(), Step::Minting);
        Self { id, call, adapter, request, session, until, step }
    }

    /// The answer to the effect under way.
    pub(crate) fn settle(&mut self, core: &mut Core, reply: Option<Reply>) -> Progress {
        match (self.step.clone(), reply) {
            (Step::Minting, Some(Reply::Random(random))) => {
                let question = super::session::mint(&random);
                let topic = self.key(core, &question);
                self.step = Step::Positioning { question };
                core.emit(Effect::Hub(HubOp::Position { topic }), Waiting::Ask(self.id));
                Progress::Waits
            }
            (Step::Positioning { question }, Some(Reply::Position(cursor))) => {
                let create = SessionOp::Create {
                    id: self.key(core, &question),
                    data: Bytes::from_static(b"{}"),
                    ttl: core.endpoint.limits().ask,
                    charged_to: core.charged_to(),
                };
                self.step = Step::Keeping { question, cursor };
                core.emit(Effect::Session(create), Waiting::Ask(self.id));
                Progress::Waits
            }
            (Step::Keeping { question, cursor }, Some(Reply::Created(true))) => {
                let id = RequestId::from(question.as_str());
                self.step = Step::Waiting { question, cursor };
                self.poll(core);
                Progress::Send(id)
            }
            (Step::Waiting { question, cursor }, Some(Reply::Polled(polled))) => {
                self.read(core, &question, cursor, polled)
            }
            (Step::Waiting { question, .. }, _) => {
                Progress::Over(Answered::Failed, Some(RequestId::from(question.as_str())))
            }
            _ => Progress::Over(Answered::Failed, None),
        }
    }

    fn read(
        &mut self,
        core: &mut Core,
        question: &str,
        mut cursor: Cursor,
        polled: Vec<Polled>,
    ) -> Progress {
        for topic in polled {
            let Read::Messages { messages, next, .. } = topic.read else {
                // The hub has forgotten the place: no answer could ever be heard.
                return Progress::Over(Answered::Failed, Some(RequestId::from(question)));
            };
            if let Some(answer) = messages.iter().find_map(|(_, message)| decode(message)) {
                return Progress::Over(answer, None);
            }
            cursor = next;
        }
        if core.now >= self.until {
            return Progress::Over(Answered::TimedOut, Some(RequestId::from(question)));
        }
        self.step = Step::Waiting { question: question.to_owned(), cursor };
        self.poll(core);
        Progress::Waits
    }

    fn poll(&self, core: &mut Core) {
        if let Step::Waiting { question, cursor } = &self.step {
            let topics = vec![(self.key(core, question), cursor.clone())];
            core.poll(topics, Waiting::Ask(self.id), Some(self.until));
        }
    }

    /// Forgets the question, so that no answer counts any more. The request's id comes back where
    /// the client was sent it.
    pub(crate) fn forget(self, core: &mut Core) -> Option<RequestId> {
        core.abandon(Waiting::Ask(self.id));
        let key = match &self.step {
            Step::Minting | Step::Positioning { .. } => return None,
            Step::Keeping { question, .. } | Step::Waiting { question, .. } => {
                self.key(core, question)
            }
        };
        // Nobody waits for these; what they leave behind expires by itself.
        core.emit(Effect::Session(SessionOp::Delete { id: key.clone() }), Waiting::Ask(self.id));
        core.emit(Effect::Hub(HubOp::Delete { topic: key }), Waiting::Ask(self.id));
        match self.step {
            Step::Waiting { question, .. } => Some(RequestId::from(question.as_str())),
            _ => None,
        }
    }

    fn key(&self, core: &Core, question: &str) -> String {
        key(core, &self.session, question)
    }
}

/// The key of a question's record, and its topic.
pub(crate) fn key(core: &Core, session: &str, question: &str) -> String {
    core.scope.key("ask", &format!("{session}.{question}"))
}

/// The answer on its way to the worker that asked.
pub(crate) fn publish(topic: String, answered: &revision::Answered) -> HubOp {
    let mut message = Vec::new();
    let mut object = Object::begin(&mut message);
    match &answered.result {
        Ok(result) => object.raw("result", result.as_bytes()),
        Err(error) => object.raw("error", error.as_bytes()),
    };
    object.end();
    HubOp::Publish { topic, message: message.into(), ttl: ANSWER_TTL, keep: 1 }
}

fn decode(message: &Bytes) -> Option<Answered> {
    json::scan(message, &json::ScanLimits::depth(256)).ok()?;
    let members = json::members(message);
    let get = |name| {
        let span = members.get(message, name)?;
        Some(Json::scanned(message.slice_ref(span.of(message))))
    };
    get("result").map(Answered::Given).or_else(|| get("error").map(Answered::Error))
}
