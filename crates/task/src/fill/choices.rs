//! Parameters that take one of a few values: what of the step's words chooses it.

use serde_json::Value;

use super::said::Said;
use crate::parameters::{Parameter, Takes};
use crate::vocabulary;

/// Words of the names of switches that say nothing of what they switch.
const SWITCHING: &[&str] = &[
    "allow", "do", "enable", "include", "is", "make", "only", "should", "use", "with",
];

/// The value that the step chooses. `own` are the tool's words, which the step has because it means the tool.
pub(super) fn chosen(parameter: &Parameter, said: &Said, own: &[String]) -> Option<Value> {
    if let Some(keyed) = keyed(parameter, said) {
        return Some(keyed);
    }
    match parameter.takes {
        Takes::Boolean => switched(parameter, said, own).map(Value::Bool),
        _ => parameter
            .choices
            .iter()
            .find(|choice| is_said(choice, said, own))
            .cloned(),
    }
}

/// The word before what the parameter switches that turns it off, by its place among the step's words. What is turned round
/// before anything is asked for may be that itself: "don't force it to be deleted".
pub(super) fn turned_by(parameter: &Parameter, said: &Said, own: &[String]) -> Option<usize> {
    let at = place(parameter, said, own)?;
    let turning = (at.saturating_sub(2)..at).find(|at| vocabulary::is_negation(&said.words[*at]))?;
    let asks = |word: &String| !vocabulary::is_small(word) && !vocabulary::is_negation(word) && word != "do";
    said.words[..turning].iter().any(asks).then_some(turning)
}

/// `parameter=value` where the value is a choice or a switch.
fn keyed(parameter: &Parameter, said: &Said) -> Option<Value> {
    let name = parameter.name.to_lowercase();
    let literal = said
        .literals
        .iter()
        .find(|literal| literal.key.as_ref() == Some(&name))?;
    let text = literal.text()?.to_lowercase();
    match parameter.takes {
        Takes::Boolean => match text.as_str() {
            "true" | "yes" => Some(true.into()),
            "false" | "no" => Some(false.into()),
            _ => None,
        },
        _ => parameter
            .choices
            .iter()
            .find(|choice| {
                choice
                    .as_str()
                    .is_some_and(|choice| choice.to_lowercase() == text)
            })
            .cloned(),
    }
}

/// Whether all words of the choice stand in the step one after the other.
fn is_said(choice: &Value, said: &Said, own: &[String]) -> bool {
    let Some(text) = choice.as_str() else {
        return said.literals.iter().any(|literal| literal.value == *choice);
    };
    let is_quoted = said
        .literals
        .iter()
        .filter_map(|literal| literal.text())
        .any(|said| said.eq_ignore_ascii_case(text));
    let words: Vec<String> = catalog::words(text).map(str::to_lowercase).collect();
    let says_nothing = |word: &String| {
        own.contains(&stem(word)) || vocabulary::is_small(word) || vocabulary::is_preposition(word)
    };
    let stands = |(at, window): (usize, &[String])| {
        let before = &said.words[at.saturating_sub(2)..at];
        !before.iter().any(|word| vocabulary::is_negation(word))
            && window
                .iter()
                .zip(&words)
                .all(|(said, word)| stem(said) == stem(word))
    };
    let is_spoken = !words.is_empty()
        && !words.iter().all(says_nothing)
        && said.words.windows(words.len()).enumerate().any(stands);
    is_quoted || is_spoken
}

/// Whether the step names what the parameter switches, and whether it wants it.
fn switched(parameter: &Parameter, said: &Said, own: &[String]) -> Option<bool> {
    let first = place(parameter, said, own)?;
    let before = &said.words[first.saturating_sub(2)..first];
    Some(!before.iter().any(|word| vocabulary::is_negation(word)))
}

/// Where the step names what the parameter switches.
fn place(parameter: &Parameter, said: &Said, own: &[String]) -> Option<usize> {
    let words: Vec<&String> = parameter
        .words
        .iter()
        .filter(|word| !SWITCHING.contains(&word.as_str()))
        .collect();
    let place = |word: &String| {
        let same =
            |said: &String| stem(said) == stem(word) || word.len() >= 5 && said.starts_with(word.as_str());
        said.words
            .iter()
            .position(same)
            .filter(|_| !own.contains(&stem(word)))
    };
    let places: Option<Vec<usize>> = words.iter().map(|word| place(word)).collect();
    places?.into_iter().min()
}

fn stem(word: &str) -> String {
    catalog::stem(word.to_owned())
}
