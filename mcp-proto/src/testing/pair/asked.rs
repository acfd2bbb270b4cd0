//! Questions of the server's.

use std::borrow::Cow;

use serde::Serialize;

use super::Pair;
use crate::client::{Declined, Question};
use crate::model::{Answer, InputRequest, elicit_accept, elicit_cancel, elicit_decline};
use crate::service::Threading;
use crate::service::client::spell;

impl<M: Threading> Pair<M> {
    /// The questions that wait for an answer, the first one first.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.seen.questions.iter().map(|(_, question)| question)
    }

    /// What the questions say that wait for an answer: the message of a form or a URL, the last
    /// text for a model; `roots/list` where the roots are asked for.
    pub fn asked(&self) -> Vec<String> {
        self.questions().map(text).collect()
    }

    /// Accepts the first question, with what a form has filled in.
    ///
    /// # Panics
    /// Where nothing is asked, or `content` does not serialize.
    pub fn accept<T: Serialize + ?Sized>(&mut self, content: &T) {
        self.answer(Ok(elicit_accept(content).expect("an answer serializes")));
    }

    /// Refuses the first question.
    ///
    /// # Panics
    /// Where nothing is asked.
    pub fn decline(&mut self) {
        self.answer(Ok(elicit_decline()));
    }

    /// Answers the first question by neither yes nor no.
    ///
    /// # Panics
    /// Where nothing is asked.
    pub fn dismiss(&mut self) {
        self.answer(Ok(elicit_cancel()));
    }

    /// Answers the first question. For a model's answer and for roots, the content is the whole
    /// result.
    ///
    /// # Panics
    /// Where nothing is asked.
    pub fn answer(&mut self, answer: Result<Answer, Declined>) {
        let (ask, question) = self.seen.questions.pop_front().expect("a question");
        let read = question.read().map_err(|bad| Declined::invalid(&bad));
        let answer = read.and_then(|read| Ok(spell(answer?, &read)));
        let now = self.now();
        self.client().answer(now, ask, answer);
    }
}

fn text(question: &Question) -> String {
    match question.read() {
        Ok(InputRequest::Elicit(form)) => form.message,
        Ok(InputRequest::ElicitUrl { message, .. }) => message,
        Ok(InputRequest::Sample(sampling)) => {
            let blocks = sampling.messages.into_iter().flat_map(|message| message.content);
            let text = blocks.filter_map(|block| block.as_text().map(Cow::into_owned));
            text.last().unwrap_or_default()
        }
        Ok(InputRequest::ListRoots) | Err(_) => question.method.clone(),
    }
}
