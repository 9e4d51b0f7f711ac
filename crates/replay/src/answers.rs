//! Answers the host calls of a repeated run from the recording of the first.

use serde_json::Value;
use serde_json::value::RawValue;
use types::HostCallError;

use crate::recording::{RecordedAnswer, RecordedHostCall};

/// What a program receives for a host call.
pub type HostAnswer = Result<Box<RawValue>, HostCallError>;

/// The recorded calls that are not yet answered again.
#[derive(Debug, Default)]
pub struct RecordedAnswers {
    /// In recorded order; `None` once answered.
    calls: Vec<Option<RecordedHostCall>>,
    /// No call before this place is left.
    first: usize,
}

/// Why the recording has no answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The recorded run did not make this call, or not so often.
    #[error("the recorded run did not make this call")]
    NotMade,
    /// The recorded run ended before its answer came.
    #[error("the recorded run ended before this call was answered")]
    NotAnswered,
    /// The answer was too large to be recorded.
    #[error("the call or its answer was too large to be recorded")]
    Dropped,
}

// === impl RecordedAnswers ===

impl RecordedAnswers {
    /// The answers of these calls.
    pub fn new(calls: Vec<RecordedHostCall>) -> RecordedAnswers {
        RecordedAnswers {
            calls: calls.into_iter().map(Some).collect(),
            first: 0,
        }
    }

    /// The answer to the first equal call that was not answered yet. Concurrent calls may come in another order than
    /// recorded.
    ///
    /// # Errors
    /// If there is none.
    pub fn take(&mut self, name: &str, args: &Value) -> Result<HostAnswer, Unanswered> {
        let is_equal = |call: &RecordedHostCall| call.name == name && call.args == *args;
        let place = self.calls[self.first..]
            .iter()
            .position(|call| call.as_ref().is_some_and(is_equal))
            .map(|place| place + self.first);
        let call = place.and_then(|place| self.calls[place].take());
        while self.calls.get(self.first).is_some_and(Option::is_none) {
            self.first += 1;
        }
        match call.map(|call| call.answer) {
            None if self.has_dropped() => Err(Unanswered::Dropped),
            None => Err(Unanswered::NotMade),
            Some(RecordedAnswer::None) => Err(Unanswered::NotAnswered),
            Some(RecordedAnswer::Dropped) => Err(Unanswered::Dropped),
            Some(RecordedAnswer::Ok(value)) => Ok(Ok(value)),
            Some(RecordedAnswer::Error(error)) => Ok(Err(error)),
        }
    }

    /// Whether calls are left that were too large to be recorded: any other call may be one of them.
    fn has_dropped(&self) -> bool {
        let is_dropped = |call: &RecordedHostCall| matches!(call.answer, RecordedAnswer::Dropped);
        self.left().any(is_dropped)
    }

    /// Recorded calls that were not made again.
    pub fn left(&self) -> impl Iterator<Item = &RecordedHostCall> {
        self.calls.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn call(args: Value, answer: i64) -> RecordedHostCall {
        RecordedHostCall {
            name: "tool".to_owned(),
            args,
            answer: RecordedAnswer::Ok(to_raw_value(&answer).expect("JSON")),
        }
    }

    fn number(answer: Result<HostAnswer, Unanswered>) -> Option<i64> {
        answer.ok()?.ok()?.get().parse().ok()
    }

    #[test]
    fn equal_calls_get_their_answers_in_order_and_others_in_any() {
        let calls = vec![call(json!(1), 10), call(json!(2), 20), call(json!(1), 11)];
        let mut answers = RecordedAnswers::new(calls);
        assert_eq!(number(answers.take("tool", &json!(2))), Some(20));
        assert_eq!(number(answers.take("tool", &json!(1))), Some(10));
        assert_eq!(answers.left().count(), 1);
        assert_eq!(number(answers.take("tool", &json!(1))), Some(11));
        assert!(matches!(
            answers.take("tool", &json!(1)),
            Err(Unanswered::NotMade)
        ));
        assert!(matches!(
            answers.take("search", &json!(2)),
            Err(Unanswered::NotMade)
        ));
    }
}
