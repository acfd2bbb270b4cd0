//! The replies of a batch, which leave together (R2503-RPC-17).

use super::calls::Last;
use super::intake::{self, Answer, Plan};
use super::session::SessionChange;
use super::task::Task;
use crate::frame::envelope::RequestId;
use crate::frame::writer;
use crate::model::{Call, Failure, FailureKind};
use crate::revision::{Adapter, Published, Refused, Subject};

/// The replies so far, in the order of the requests. One invalid element has an error of its own,
/// and the others run.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    replies: Vec<(Option<RequestId>, Vec<u8>)>,
}

/// What one request of a batch leads to.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is the rule")]
pub(crate) enum Todo {
    Run(Call),
    Change(RequestId, SessionChange),
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    /// Takes in one request: its answer if it is known already, else its place among the replies,
    /// and what is to be done.
    pub(crate) fn add(
        &mut self,
        published: &Published,
        adapter: &Adapter,
        mut call: Call,
    ) -> Option<Todo> {
        let id = call.id().cloned()?;
        let malformed = |why| Answer::Failure(Failure::new(FailureKind::Malformed, why));
        let in_use = self.replies.iter().any(|(other, _)| other.as_ref() == Some(&id));
        let mut todo = None;
        let answer = match intake::plan(published, adapter, &call) {
            _ if in_use => malformed("this id is in use by a call that is running"),
            Plan::Answer(answer) => answer,
            Plan::Update(change) => {
                todo = Some(Todo::Change(id.clone(), change));
                Answer::Empty
            }
            Plan::Handshake => malformed("initialize stands alone, never in a batch"),
            Plan::Listen(_) => malformed("listening stands alone, never in a batch"),
            Plan::Run => {
                match intake::take_answers(adapter, published.called(adapter, &call), &mut call) {
                    Ok(()) => {
                        self.replies.push((Some(id), Vec::new()));
                        return Some(Todo::Run(call));
                    }
                    Err(failure) => Answer::Failure(failure),
                }
            }
        };
        let mut reply = Vec::new();
        intake::write(published, adapter, &call, answer, &mut reply);
        self.replies.push((Some(id), reply));
        todo
    }

    /// Takes in what cannot be read. What was meant as a response is not answered.
    pub(crate) fn refuse(&mut self, adapter: &Adapter, refused: &Refused) {
        if matches!(refused.subject, Subject::Response(_)) {
            return;
        }
        let mut reply = Vec::new();
        adapter.write_failure(&mut reply, refused.id(), &refused.failure);
        self.replies.push((refused.id().cloned(), reply));
    }

    /// A request could not be done after all.
    pub(crate) fn replace(&mut self, adapter: &Adapter, id: Option<&RequestId>, failure: &Failure) {
        if let Some((_, reply)) = self.replies.iter_mut().find(|(other, _)| other.as_ref() == id) {
            reply.clear();
            adapter.write_failure(reply, id, failure);
        }
    }

    /// The reply of a call that ended.
    pub(crate) fn fill(&mut self, published: &Published, task: &Task, last: &Last) {
        let id = &task.in_flight.request;
        let is_its_place = |(other, reply): &&mut (Option<RequestId>, Vec<u8>)| {
            other.as_ref() == Some(id) && reply.is_empty()
        };
        if let Some((_, place)) = self.replies.iter_mut().find(is_its_place) {
            task.in_flight.write(published, last, place);
        }
    }

    /// Appends the array; calls that were cancelled are not in it. Without any reply there is
    /// nothing to send.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> bool {
        let replies = self.replies.iter().filter(|(_, reply)| !reply.is_empty());
        let any = replies.clone().next().is_some();
        if any {
            writer::array(out, replies, |(_, reply), out| out.extend_from_slice(reply));
        }
        any
    }
}
