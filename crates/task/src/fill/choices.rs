//! Parameters that take one of a few values: what of the step's words chooses it, and for which of them a word is.

use std::ops::Range;

use serde_json::Value;

use super::said::Said;
use super::score;
use crate::literals::{Literal, word_after, words_before};
use crate::parameters::{Parameter, Takes};
use crate::vocabulary;

/// Words of the names of switches that say nothing of what they switch.
const SWITCHING: &[&str] = &[
    "allow", "do", "enable", "include", "is", "make", "only", "should", "use", "with",
];

/// What the step chooses.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// By parameter.
    pub(super) values: Vec<(usize, Value)>,
    /// Where the words stand that chose something.
    pub(super) places: Vec<Range<usize>>,
    /// What is said and may mean more than one thing, in words that follow the step.
    pub(super) unclear: Option<String>,
}

/// A choice of a parameter where the step says it.
struct Found<'a> {
    parameter: usize,
    choice: &'a Value,
    place: Range<usize>,
    /// How much the words around it speak for the parameter.
    score: f32,
}

/// What the step chooses of all parameters with choices. `own` are the tool's words, which the step has because it means the
/// tool. Prepositions and the names of the parameters decide for which of them a word is, then the order of the text.
pub(super) fn chosen(parameters: &[Parameter], task: &str, said: &Said, own: &[String]) -> Chosen {
    let mut chosen = Chosen::default();
    let mut found: Vec<Found<'_>> = Vec::new();
    for (at, parameter) in parameters.iter().enumerate() {
        if let Some((value, literal)) = keyed(parameter, said) {
            chosen.values.push((at, value));
            chosen.places.push(literal.span.clone());
        } else if parameter.takes == Takes::Boolean {
            if let Some(switch) = switched(parameter, task, said, own) {
                if switch.is_unclear {
                    let name = &parameter.name;
                    let message = format!(
                        "leaves open how '{name}' is to be switched; write {name}=true or {name}=false"
                    );
                    chosen.unclear.get_or_insert(message);
                }
                chosen.values.push((at, switch.on.into()));
                chosen.places.extend(switch.places);
            }
        } else {
            found.extend(places(at, parameter, task, said, own));
        }
    }
    let order = |found: &Found<'_>| (!parameters[found.parameter].is_required, found.place.start);
    let length = |found: &Found<'_>| found.place.len();
    // The sort is stable: at one place the parameters' order decides.
    found.sort_by(|a, b| {
        let score = b.score.total_cmp(&a.score);
        score
            .then(length(b).cmp(&length(a)))
            .then(order(a).cmp(&order(b)))
    });
    let mut taken: Vec<&Found<'_>> = Vec::new();
    for one in &found {
        let is_list = matches!(parameters[one.parameter].takes, Takes::List(_));
        let is_free = |other: &&Found<'_>| {
            !overlap(&other.place, &one.place) && (is_list || other.parameter != one.parameter)
        };
        if taken.iter().all(is_free) {
            taken.push(one);
        }
    }
    taken.sort_by_key(|one| one.place.start);
    for one in &taken {
        chosen.places.push(one.place.clone());
        let is_list = matches!(parameters[one.parameter].takes, Takes::List(_));
        let before = chosen.values.iter_mut().find(|(at, _)| *at == one.parameter);
        match before {
            Some((_, Value::Array(items))) => items.push(one.choice.clone()),
            _ if is_list => chosen
                .values
                .push((one.parameter, Value::from(vec![one.choice.clone()]))),
            _ => chosen.values.push((one.parameter, one.choice.clone())),
        }
    }
    chosen.unclear = chosen.unclear.or_else(|| unclear(parameters, &found, &taken));
    chosen
}

/// A word that may be for another parameter as well, or another choice of the same one that is said as clearly.
fn unclear(parameters: &[Parameter], found: &[Found<'_>], taken: &[&Found<'_>]) -> Option<String> {
    let is_filled = |at: usize| taken.iter().any(|one| one.parameter == at);
    let is_used = |place: &Range<usize>| taken.iter().any(|one| overlap(&one.place, place));
    for one in taken {
        let own = &parameters[one.parameter];
        let rival = |other: &&Found<'_>| {
            let parameter = &parameters[other.parameter];
            overlap(&other.place, &one.place)
                && !is_filled(other.parameter)
                && other.score >= one.score
                && parameter.is_required == own.is_required
        };
        if let Some(other) = found.iter().find(rival) {
            let (word, other) = (plain(one.choice), &parameters[other.parameter].name);
            let name = &own.name;
            return Some(format!(
                "says '{word}', which may be for '{name}' or for '{other}'; write {name}={word} or {other}={word}"
            ));
        }
        let rival = |other: &&Found<'_>| {
            other.parameter == one.parameter
                && other.choice != one.choice
                && other.score >= one.score
                && !is_used(&other.place)
        };
        if let Some(other) = found.iter().find(rival) {
            let (word, other, name) = (plain(one.choice), plain(other.choice), &own.name);
            return Some(format!(
                "says '{word}' and '{other}' for '{name}', which takes one; write {name}={word} or {name}={other}"
            ));
        }
    }
    None
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn plain(choice: &Value) -> String {
    choice.as_str().map_or_else(|| choice.to_string(), str::to_owned)
}

/// Where the step says one of the parameter's choices; or of the words that its description shows, next to its name.
fn places<'a>(
    at: usize,
    parameter: &'a Parameter,
    task: &str,
    said: &Said,
    own: &[String],
) -> Vec<Found<'a>> {
    let is_shown = parameter.choices.is_empty();
    let choices = if is_shown {
        &parameter.shown
    } else {
        &parameter.choices
    };
    let mut found = Vec::new();
    for choice in choices {
        let literals = said.literals.iter().filter(|literal| is_it(choice, literal));
        let literals = literals.map(|literal| (literal.span.clone(), score::around(parameter, literal)));
        let spoken = spoken(choice, said, own).into_iter().map(|place| {
            let before = words_before(&task[..place.start]);
            let after = word_after(&task[place.end..]);
            let score = score::beside(parameter, &before, after.as_deref());
            (place, score)
        });
        found.extend(literals.chain(spoken).map(|(place, score)| Found {
            parameter: at,
            choice,
            place,
            score,
        }));
    }
    found.retain(|found| !is_shown || found.score > 0.0);
    found
}

fn is_it(choice: &Value, literal: &Literal) -> bool {
    literal.key.is_none()
        && match (choice.as_str(), literal.text()) {
            (Some(choice), Some(said)) => choice.eq_ignore_ascii_case(said),
            _ => *choice == literal.value,
        }
}

/// Where all words of the choice stand one after the other, and nothing before them turns them round.
fn spoken(choice: &Value, said: &Said, own: &[String]) -> Vec<Range<usize>> {
    let words: Vec<String> = catalog::words(choice.as_str().unwrap_or_default())
        .map(str::to_lowercase)
        .collect();
    let says_nothing = |word: &String| {
        own.contains(&stem(word)) || vocabulary::is_small(word) || vocabulary::is_preposition(word)
    };
    if words.iter().all(says_nothing) {
        return Vec::new();
    }
    let stands = |at: &usize| {
        let before = &said.words[at.saturating_sub(2)..*at];
        let window = &said.words[*at..at + words.len()];
        !before.iter().any(|word| vocabulary::is_negation(word))
            && window
                .iter()
                .zip(&words)
                .all(|(said, word)| stem(said) == stem(word))
    };
    (0..(said.words.len() + 1).saturating_sub(words.len()))
        .filter(stands)
        .map(|at| said.places[at].start..said.places[at + words.len() - 1].end)
        .collect()
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
fn keyed<'a>(parameter: &Parameter, said: &'a Said) -> Option<(Value, &'a Literal)> {
    let name = parameter.name.to_lowercase();
    let literal = said
        .literals
        .iter()
        .find(|literal| literal.key.as_ref() == Some(&name))?;
    let text = plain(&literal.value).to_lowercase();
    let value = match parameter.takes {
        Takes::Boolean => match text.as_str() {
            "true" | "yes" => true.into(),
            "false" | "no" => false.into(),
            _ => return None,
        },
        _ => {
            let mut choices = parameter.choices.iter();
            choices
                .find(|choice| plain(choice).to_lowercase() == text)?
                .clone()
        }
    };
    Some((value, literal))
}

/// What the step says of a switch.
struct Switched {
    on: bool,
    /// Where its words stand.
    places: Vec<Range<usize>>,
    /// Whether it is what the switch is to leave, or is said twice: "from public", "without force false".
    is_unclear: bool,
}

/// Words beside the name of a switch that turn it off, and those that turn it on.
const OFF: &[&str] = &["deactivated", "disable", "disabled", "disabling", "false", "off"];
const ON: &[&str] = &["activated", "enable", "enabled", "enabling", "on", "true", "yes"];

/// Whether the step names what the parameter switches, and whether it wants it: "recursive off".
fn switched(parameter: &Parameter, task: &str, said: &Said, own: &[String]) -> Option<Switched> {
    let first = place(parameter, said, own)?;
    let before = &said.words[first.saturating_sub(2)..first];
    let turns = |word: &String| vocabulary::is_negation(word) || OFF.contains(&word.as_str());
    let mut end = said.places[first].end;
    let mut value = None;
    for (word, place) in said.words.iter().zip(&said.places).skip(first + 1) {
        let between = task.get(end..place.start).unwrap_or("?");
        let is_beside = between.chars().all(|c| c.is_whitespace() || ":=".contains(c));
        if !is_beside {
            break;
        }
        match word.as_str() {
            "is" | "set" | "to" => {}
            word if OFF.contains(&word) => value = Some((false, place.end)),
            word if ON.contains(&word) => value = Some((true, place.end)),
            _ => break,
        }
        if value.is_some() {
            break;
        }
        end = place.end;
    }
    let turned = before.iter().filter(|word| turns(word)).count() % 2 == 1;
    let (on, until) = value.unwrap_or((true, said.places[first].end));
    let switching = (first.saturating_sub(2)..first).filter(|at| OFF.contains(&said.words[*at].as_str()));
    let mut places: Vec<Range<usize>> = switching.map(|at| said.places[at].clone()).collect();
    places.push(said.places[first].start..until);
    Some(Switched {
        on: on != turned,
        places,
        is_unclear: before.last().is_some_and(|word| word == "from") || value.is_some() && turned,
    })
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
