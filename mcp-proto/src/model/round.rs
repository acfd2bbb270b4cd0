//! A call that asked and is not finished: what it waits for, and what it was told.

use super::{Answer, BadAnswer, Digest, InputRequest, Json, Operation};

/// Which request a state belongs to. For any other one it is unknown (R26-MRTR-10, C100).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// What was asked for.
    pub operation: Operation,
    /// The tool, the prompt or the resource.
    pub target: Option<String>,
    /// The digest of the arguments, without answers.
    pub arguments: Digest,
    /// Who asked for it, where callers are told apart (R26-ELIC-18).
    pub principal: Option<String>,
}

/// What a round waits for, and what earlier rounds brought.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The request that is not finished.
    pub binding: Binding,
    /// The questions that are open, by key.
    pub questions: Vec<(String, InputRequest)>,
    /// The answers of earlier rounds, by key.
    pub settled: Vec<(String, Settled)>,
    /// What the handler keeps for itself.
    pub state: Option<Json>,
}

/// A question of an earlier round, with what came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// The question: the answer counts only while the handler asks this very one.
    pub question: InputRequest,
    /// The result that the client gave.
    pub result: Json,
}

impl Settled {
    /// The answer.
    ///
    /// # Errors
    /// Where the result is no answer to the question.
    pub fn answer(&self) -> Result<Answer, BadAnswer> {
        Answer::read(&self.question, &self.result)
    }
}

impl Round {
    /// The answer to a question that was asked under `key`: of an earlier round, or among
    /// `answers`, the results that came with this retry. It counts only where this very question
    /// was asked; `None` means that it is to be asked, for the first time or anew.
    pub fn answer(
        &self,
        key: &str,
        question: &InputRequest,
        answers: &[(String, Json)],
    ) -> Option<Result<Answer, BadAnswer>> {
        fn of<'a, T>(list: &'a [(String, T)], key: &str) -> Option<&'a T> {
            list.iter().find(|(known, _)| known == key).map(|(_, found)| found)
        }
        let asked = of(&self.questions, key).is_some_and(|asked| asked == question);
        match of(answers, key).filter(|_| asked) {
            Some(result) => Some(Answer::read(question, result)),
            None => {
                let settled = of(&self.settled, key)?;
                (settled.question == *question).then(|| settled.answer())
            }
        }
    }

    /// The answer under `key`, whatever was asked there: of an earlier round, or among `answers`.
    /// What does not fit its question is no answer.
    pub fn told(&self, key: &str, answers: &[(String, Json)]) -> Option<Answer> {
        let question = self.questions.iter().find(|(own, _)| own == key).map(|(_, it)| it);
        let settled = || self.settled.iter().find(|(own, _)| own == key).map(|(_, it)| it);
        let question = question.or_else(|| settled().map(|settled| &settled.question))?;
        self.answer(key, question, answers)?.ok()
    }

    /// The answers that the next round keeps: those settled before, and those among `answers` that
    /// fit the open questions. What nobody asked for is left out (T-52).
    pub fn settle(&self, answers: &[(String, Json)]) -> Vec<(String, Settled)> {
        let mut settled = self.settled.clone();
        for (key, question) in &self.questions {
            let result = answers.iter().find(|(known, _)| known == key).map(|(_, result)| result);
            let Some(result) = result else { continue };
            if Answer::read(question, result).is_err() {
                continue;
            }
            settled.retain(|(known, _)| known != key);
            let now = Settled { question: question.clone(), result: result.clone() };
            settled.push((key.clone(), now));
        }
        settled
    }
}
