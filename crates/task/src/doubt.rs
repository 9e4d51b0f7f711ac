//! What makes it doubtful that a step means the call that was found for it, so that nothing is run.

mod measure;
mod units;
mod words;

use catalog::Entry;

use crate::fill::Filled;
use crate::fill::said::Said;
use crate::verbs;
pub(crate) use measure::is_own_unit;
pub(crate) use words::left as words_left;

/// Why the call may not be what the step means, in words that follow the step.
pub(crate) fn of_call(task: &str, said: &Said, entry: &Entry, filled: &Filled) -> Option<String> {
    let reads = verbs::reads(entry);
    negation(said, &filled.turned)
        .or_else(|| {
            said.leaves_choice(task, !reads)
                .then(|| "says 'or', which is not decided; say which is meant".to_owned())
        })
        .or_else(|| filled.unclear.clone())
        .or_else(|| measure::of_numbers(task, said, entry, filled))
}

/// The same for a step that no call was found for.
pub(crate) fn of_none(said: &Said) -> Option<String> {
    let question = "is a question, for which only tools are called that are known to change nothing, and none of them answers it";
    negation(said, &[]).or_else(|| said.is_question.then(|| question.to_owned()))
}

/// A word that turns something round and that no switch takes.
fn negation(said: &Said, turned: &[usize]) -> Option<String> {
    let is_left = |at: &Option<usize>| !at.is_some_and(|at| turned.contains(&at));
    let (_, word) = said.negations.iter().find(|(at, _)| is_left(at))?;
    Some(format!(
        "says '{word}', which is not followed; say only what is to be done, and put what is a value in quotation marks"
    ))
}
