//! What makes it doubtful that a step means the call that was found for it, so that nothing is run.

use catalog::Entry;

use crate::fill::Filled;
use crate::fill::said::Said;
use crate::literals::{Kind, Literal};
use crate::verbs;

/// Why the call may not be what the step means, in words that follow the step.
pub(crate) fn of_call(task: &str, said: &Said, entry: &Entry, filled: &Filled) -> Option<String> {
    let reads = verbs::reads(entry);
    negation(said, &filled.turned)
        .or_else(|| {
            said.leaves_choice(task, !reads)
                .then(|| "says 'or', which is not decided; say which is meant".to_owned())
        })
        .or_else(|| filled.unclear.clone())
        .or_else(|| measure(task, said, entry, filled))
}

/// Words after a number without which it is another.
const MAGNITUDES: &[&str] = &[
    "k", "bn", "mio", "mn", "dozen", "hundred", "thousand", "million", "millions", "billion", "billions",
];

/// Units of which one is not the other.
const UNITS: &[&[&str]] = &[
    &[
        "ms",
        "millisecond",
        "second",
        "seconds",
        "minute",
        "minutes",
        "hour",
        "hours",
        "day",
        "days",
        "week",
        "weeks",
        "month",
        "months",
        "year",
        "years",
        "milliseconds",
    ],
    &[
        "g",
        "gram",
        "grams",
        "kg",
        "kilogram",
        "kilograms",
        "lb",
        "lbs",
        "pound",
        "pounds",
        "oz",
        "ounce",
        "ounces",
    ],
    &[
        "mm",
        "cm",
        "km",
        "kilometre",
        "kilometres",
        "kilometer",
        "kilometers",
        "mile",
        "miles",
        "inch",
        "inches",
        "foot",
        "feet",
    ],
];

/// A number that is another one with the words after it.
fn measure(task: &str, said: &Said, entry: &Entry, filled: &Filled) -> Option<String> {
    let schema = entry.definition.input_schema().to_string().to_lowercase();
    let words: Vec<&str> = catalog::words(&schema).collect();
    let used = filled.used.iter().map(|at| &said.literals[*at]);
    let takes_unit = used.clone().any(|literal| literal.kind == Kind::Unit);
    let mut numbers = used.filter(|literal| literal.kind == Kind::Number);
    let is_other = |number: &&Literal| {
        let unit = number.after.as_deref().unwrap_or_default();
        let is_percent =
            matches!(unit, "%" | "percent") && !schema.contains("percent") && !schema.contains('%');
        let rest = &task[number.span.end..];
        let is_foreign = task[number.span.clone()].contains('.')
            && rest
                .strip_prefix(',')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let stem = |word: &str| catalog::stem(word.to_owned());
        let has = |unit: &str| words.iter().any(|word| stem(word) == stem(unit));
        let mut groups = UNITS.iter().filter(|units| units.contains(&unit));
        let is_other_unit =
            !takes_unit && groups.any(|units| !has(unit) && units.iter().any(|unit| has(unit)));
        is_percent
            || is_foreign
            || is_other_unit
            || MAGNITUDES.contains(&unit)
            || is_in_parts(task, said, number)
    };
    let number = numbers.find(is_other)?;
    let unit = number.after.as_deref().unwrap_or_default();
    Some(format!(
        "has the number {:?}, which {} may take for another; write it in figures, in the unit that it takes",
        format!("{} {unit}", &task[number.span.clone()]).trim_end(),
        entry.tool
    ))
}

/// Whether another number stands right beside it: "five hundred".
fn is_in_parts(task: &str, said: &Said, number: &Literal) -> bool {
    let is_beside = |one: &Literal, other: &Literal| {
        let between = task.get(one.span.end..other.span.start);
        between.is_some_and(|between| matches!(between, " " | "-"))
    };
    let mut others = said
        .literals
        .iter()
        .filter(|literal| literal.kind == Kind::Number);
    others.any(|other| is_beside(number, other) || is_beside(other, number))
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
