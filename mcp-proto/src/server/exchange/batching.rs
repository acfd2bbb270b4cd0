//! A batch: what it asks for besides replies is done first, one after the other, then its calls
//! run at once (R2503-RPC-17).

use super::message::completes;
use super::stages::{Stage, Then};
use super::{HttpExchange, HttpRequest, Task};
use crate::frame::envelope::RequestId;
use crate::model::Call;
use crate::revision::{Adapter, Answered, Decoded, Preamble, Refused};
use crate::server::batch::{Batch, Todo};
use crate::server::intake::Answer;
use crate::server::pending::Waiting;
use crate::server::session::{Session, SessionChange};

/// What is left to be done of a batch.
#[derive(Debug)]
pub(super) struct Rest {
    adapter: Adapter,
    /// Answers to questions of ours.
    answers: Vec<Answered>,
    changes: Vec<(Option<RequestId>, SessionChange)>,
    calls: Vec<Call>,
}

impl<H: HttpRequest> HttpExchange<H> {
    pub(super) fn receive_batch(
        &mut self,
        adapter: &Adapter,
        messages: Vec<Result<Preamble, Refused>>,
        session: Option<Session>,
    ) {
        let published = self.core.published.clone();
        let client = session.as_ref().map(|session| &session.client);
        let decode = |message: Preamble| adapter.decode(&message, client);
        let messages: Vec<_> = messages.into_iter().map(|message| message.map(decode)).collect();
        // A caller who lacks a scope for one of them gets none of them: there is one status.
        let scopes = |message: &Result<Decoded, Refused>| match message {
            Ok(Decoded::Call(call)) => published.catalog().scopes(call).to_vec(),
            _ => Vec::new(),
        };
        let refused: Vec<_> =
            messages.iter().map(scopes).filter(|scopes| self.lacks(scopes)).collect();
        if !refused.is_empty() {
            return self.refuse_scope(refused.into_iter().flatten());
        }
        let listed = self.listed(&Answer::Listing);
        let mut batch = Batch::default();
        let (answers, changes, calls) = (Vec::new(), Vec::new(), Vec::new());
        let mut rest = Rest { adapter: *adapter, answers, changes, calls };
        for message in messages {
            match message {
                Ok(Decoded::Call(call)) if completes(&call) => {
                    if session.as_ref().is_some_and(|session| session.is_new) {
                        rest.changes.push((None, SessionChange::Complete));
                    }
                }
                Ok(Decoded::Call(mut call)) => {
                    self.introduce(&mut call, session.as_ref());
                    match batch.add(&listed, adapter, call) {
                        Some(Todo::Run(call)) => rest.calls.push(call),
                        Some(Todo::Change(id, change)) => rest.changes.push((Some(id), change)),
                        None => {}
                    }
                }
                Ok(Decoded::Answered(answered)) => rest.answers.push(answered),
                Ok(Decoded::Cancelled { request, .. }) => {
                    self.publish_cancel(&request, Waiting::Nothing);
                }
                Ok(Decoded::Ignored) => {}
                Ok(Decoded::Refused(refused)) | Err(refused) => batch.refuse(adapter, &refused),
            }
        }
        if self.session.is_none() {
            // There is nobody who asked, and nowhere to keep a change.
            rest.answers.clear();
            rest.changes.clear();
        }
        self.batch = (!batch.is_empty()).then_some(batch);
        self.rest = Some(Box::new(rest));
        self.go_on_with_batch();
    }

    /// An answer was handed on, or was nobody's.
    pub(super) fn delivered(&mut self) {
        match self.rest {
            Some(_) => self.go_on_with_batch(),
            None => self.accept(),
        }
    }

    pub(super) fn go_on_with_batch(&mut self) {
        let Some(mut rest) = self.rest.take() else { return };
        if let Some(answered) = rest.answers.pop() {
            let adapter = rest.adapter;
            self.rest = Some(rest);
            return self.deliver(&adapter, answered);
        }
        if !rest.changes.is_empty() {
            let changes = core::mem::take(&mut rest.changes);
            let then = Then::Batch(rest.adapter);
            self.rest = Some(rest);
            return self.update(changes, then);
        }
        if self.batch.is_none() {
            return self.accept();
        }
        self.stage = Stage::Running;
        for call in rest.calls {
            let can_push = self.session.is_some();
            self.tasks.extend(Task::begin(&mut self.core, &rest.adapter, call, can_push));
        }
        self.start_timer();
        self.conclude();
    }
}
