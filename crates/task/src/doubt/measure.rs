//! Whether a number means to the tool what it means in the step: its unit, its magnitude, and the words around it.

use catalog::Entry;

use super::units::{self, Unit};
use super::words::HARMLESS;
use crate::fill::said::Said;
use crate::fill::{self, Filled};
use crate::literals::{Kind, Literal};
use crate::parameters::{self, Parameter, Role};
use crate::plan::Argument;
use crate::verbs;

/// Words after a number without which it is another.
const MAGNITUDES: &[&str] = &[
    "k", "bn", "mio", "mn", "dozen", "hundred", "thousand", "million", "millions", "billion", "billions",
    "percent", "pct", "%",
];

/// What follows a number that is another with it.
const FRACTIONS: &[&str] = &["and a half", "and a quarter", "and a third", "and three quarters"];

/// Words before a number of which it is only a part or a multiple.
const MULTIPLES: &[&str] = &[
    "double", "half", "minus", "quarter", "third", "thrice", "times", "triple", "twice",
];

/// Words before a number that is not meant exactly; the names of parameters for bounds may have them.
const INEXACT: &[&str] = &[
    "about",
    "above",
    "almost",
    "approximately",
    "around",
    "below",
    "beyond",
    "circa",
    "exceeding",
    "least",
    "max",
    "maximum",
    "min",
    "minimum",
    "most",
    "nearly",
    "over",
    "roughly",
    "some",
    "than",
    "under",
];

/// Words beside a number and its unit that make a difference of it.
const RELATIVE: &[&str] = &[
    "additional",
    "back",
    "bigger",
    "brighter",
    "cheaper",
    "closer",
    "colder",
    "cooler",
    "darker",
    "deeper",
    "dimmer",
    "down",
    "earlier",
    "extra",
    "farther",
    "faster",
    "fewer",
    "further",
    "greater",
    "harder",
    "heavier",
    "higher",
    "hotter",
    "larger",
    "later",
    "less",
    "lighter",
    "longer",
    "louder",
    "lower",
    "more",
    "narrower",
    "nearer",
    "newer",
    "off",
    "older",
    "quicker",
    "quieter",
    "shorter",
    "slower",
    "smaller",
    "softer",
    "sooner",
    "stronger",
    "taller",
    "thicker",
    "thinner",
    "up",
    "warmer",
    "weaker",
    "wider",
    "younger",
];

/// Words after a number and its unit that make a part of a way of it: "12 km there and back".
const WAYS: &[&str] = &["return", "there"];

/// Words of the names of parameters for differences: "by 5".
const DIFFERENCES: &[&str] = &[
    "amount",
    "b",
    "by",
    "change",
    "delta",
    "difference",
    "factor",
    "increment",
    "offset",
    "percent",
    "step",
];

/// A number that may be another one to the tool, in words that follow the step.
pub(super) fn of_numbers(task: &str, said: &Said, entry: &Entry, filled: &Filled) -> Option<String> {
    let parameters = parameters::parameters(&entry.definition.input_schema());
    measured(task, said, entry, filled, &parameters).find_map(|number| {
        let reason = number.reason()?;
        Some(format!("has the number {:?}, {reason}", number.shown()))
    })
}

/// Whether the literal is the unit of a number, and the one in which the tool takes it: "50 USD".
pub(crate) fn is_own_unit(
    task: &str,
    said: &Said,
    entry: &Entry,
    filled: &Filled,
    literal: &Literal,
) -> bool {
    let units = units::named(&literal.text().unwrap_or_default().to_lowercase());
    let parameters = parameters::parameters(&entry.definition.input_schema());
    !units.is_empty()
        && measured(task, said, entry, filled, &parameters).any(|number| {
            let between = task.get(number.number.span.end..literal.span.start);
            between.is_some_and(|between| is_degree(between.trim()) || between.trim().is_empty())
                && number.own_units().iter().any(|unit| units.contains(unit))
        })
}

/// Whether a number after the word is not meant exactly.
pub(super) fn is_inexact(word: &str) -> bool {
    INEXACT.contains(&word)
}

/// Whether a number beside the word is a difference.
pub(super) fn is_relative(word: &str) -> bool {
    RELATIVE.contains(&word)
}

/// The numbers that are passed.
fn measured<'a>(
    task: &'a str,
    said: &'a Said,
    entry: &'a Entry,
    filled: &'a Filled,
    parameters: &'a [Parameter],
) -> impl Iterator<Item = Measured<'a>> {
    let used = filled.used.iter().map(|at| (*at, &said.literals[*at]));
    let numbers = used.filter(|(_, literal)| literal.kind == Kind::Number);
    numbers.map(move |(at, number)| {
        let taker = filled.takers.iter().find(|(literal, _)| *literal == at);
        let taker = taker.and_then(|(_, name)| parameters.iter().find(|parameter| parameter.name == *name));
        Measured {
            task,
            said,
            entry,
            filled,
            number,
            taker,
            reads: verbs::reads(entry),
        }
    })
}

/// A word before the scale of a temperature; without that it is the tool's own.
fn is_degree(word: &str) -> bool {
    matches!(word, "degree" | "degrees" | "\u{b0}")
}

/// A number and the parameter that took it.
struct Measured<'a> {
    task: &'a str,
    said: &'a Said,
    entry: &'a Entry,
    filled: &'a Filled,
    number: &'a Literal,
    /// None for one of a list.
    taker: Option<&'a Parameter>,
    reads: bool,
}

impl Measured<'_> {
    /// The number as it stands, with the word that belongs to it.
    fn shown(&self) -> String {
        let unit = self.number.after.as_deref().unwrap_or_default();
        let shown = format!("{} {unit}", &self.task[self.number.span.clone()]);
        shown.trim_end().to_owned()
    }

    fn reason(&self) -> Option<String> {
        if self.is_other() {
            return Some(format!(
                "which {} may take for another; write it in figures, in the unit that it takes",
                self.entry.tool
            ));
        }
        if !self.reads && self.is_inexact() {
            return Some(format!(
                "which the words around it change; say the number that {} is to take",
                self.entry.tool
            ));
        }
        if !self.reads && self.is_count() {
            return Some("which counts something; say which are meant".to_owned());
        }
        self.other_unit().or_else(|| {
            let word = self.unknown().filter(|_| !self.reads)?;
            Some(format!(
                "where {} says nothing of {word:?}; leave the word out if that is what the tool takes",
                self.entry.tool
            ))
        })
    }

    /// Whether a part of the number stands beside it.
    fn is_other(&self) -> bool {
        let after = self.number.after.as_deref().unwrap_or_default();
        let is_share = matches!(after, "%" | "percent" | "pct");
        let is_foreign = self.task[self.number.span.clone()].contains('.')
            && self
                .rest()
                .strip_prefix(',')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let takes_share = || self.own_units().iter().any(|unit| unit.name() == "percent");
        is_foreign
            || MAGNITUDES.contains(&after) && !(is_share && takes_share())
            || self.before(MULTIPLES)
            || self.is_followed_by(FRACTIONS)
            || self.is_in_parts()
    }

    /// Whether the number is only near to what is meant, or one of several such.
    fn is_inexact(&self) -> bool {
        let is_bound = || self.taker.is_some_and(|taker| fill::is_bound(taker, self.number));
        let is_id = self.taker.is_some_and(|taker| taker.role == Role::Id);
        let nearest = |at: usize| self.number.before.get(at).map_or("", String::as_str);
        let is_up_to = matches!(
            (nearest(1), nearest(0)),
            ("up" | "close" | "near", "to") | ("much" | "many", "as")
        );
        !is_id && (self.before(INEXACT) && !is_bound() || is_up_to)
            || self.is_rate()
            || !is_id && self.is_relative()
    }

    /// Whether it says by how much something is to change: "2 degrees higher", "by 5".
    fn is_relative(&self) -> bool {
        let rest = self.after_unit();
        let next = rest
            .split(|c: char| !c.is_alphanumeric())
            .next()
            .unwrap_or_default();
        is_relative(next) || WAYS.contains(&next) || self.before(&["by"]) && !self.is_called(DIFFERENCES)
    }

    /// Whether the name of the parameter has one of these words.
    fn is_called(&self, words: &[&str]) -> bool {
        let own = self.taker.into_iter().flat_map(|taker| &taker.words);
        own.into_iter().any(|word| words.contains(&word.as_str()))
    }

    /// Whether it is so much for each of something that the tool knows nothing of: "50 a week", "5 per person", "10 each".
    fn is_rate(&self) -> bool {
        let rest = self.after_unit();
        let mut words = rest
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match first {
            "apiece" | "each" => true,
            "per" | "every" => !self.knows(second),
            "a" | "an" => !units::named(second).is_empty() && !self.knows(second),
            _ => false,
        }
    }

    /// Whether the step counts things by it, and the parameter wants to know which: "cancel 5 orders".
    fn is_count(&self) -> bool {
        let is_id = self.taker.is_some_and(|taker| taker.role == Role::Id);
        let after = self.number.after.as_deref();
        is_id && after.is_some_and(|word| word.ends_with('s') && self.knows(word))
    }

    /// What to say if the number has another unit than its parameter.
    fn other_unit(&self) -> Option<String> {
        let said = self.units();
        let own = self.own_units();
        let is_same = own.iter().any(|unit| said.contains(unit));
        if said.is_empty() || own.is_empty() || is_same || self.is_passed() {
            return None;
        }
        // What is only told may be asked of a tool of which nobody knows what its units are for.
        let is_like = |unit: &&Unit| said.iter().any(|said| said.is_like(**unit));
        let like = own.iter().find(is_like);
        let unit = like.or_else(|| own.first().filter(|_| !self.reads))?.name();
        Some(format!(
            "where {} takes {unit}; write it in {unit}",
            self.entry.tool
        ))
    }

    /// The units that the step may mean.
    fn units(&self) -> Vec<Unit> {
        let symbol = self.task[self.number.span.clone()].chars().next();
        let symbol = symbol.filter(|c| units::is_symbol(*c));
        let after = self.number.after.as_deref().unwrap_or_default();
        let scale = self.after_unit();
        let scale = scale.split_whitespace().next().unwrap_or_default();
        let mut found = units::named(after);
        if is_degree(after) {
            found = units::named(scale.trim_matches(|c: char| !c.is_alphanumeric()));
        }
        if let Some(symbol) = symbol {
            found.extend(units::named(&symbol.to_string()));
        }
        found
    }

    /// The units of the parameter by its name, else by what is said of it, else by what is said of the tool.
    fn own_units(&self) -> Vec<Unit> {
        let definition = &self.entry.definition;
        let about = definition.description.as_deref().unwrap_or_default();
        let mut found = self
            .taker
            .map(|taker| units::of_name(&taker.name))
            .unwrap_or_default();
        if let (true, Some(taker)) = (found.is_empty(), self.taker) {
            found = units::of_text(&taker.about);
        }
        if self.taker.is_none() {
            found = units::of_text(&definition.input_schema().to_string().replace('_', " "));
        }
        if found.is_empty() {
            found = units::of_name(&self.entry.tool.tool);
            found.extend(units::of_text(about));
        }
        found
    }

    /// The word after the number, if it is neither passed nor known to the tool.
    fn unknown(&self) -> Option<String> {
        let symbol = &self.task[self.number.span.clone()];
        let symbol = symbol
            .chars()
            .next()
            .filter(|c| units::is_symbol(*c) && *c != '$');
        if let Some(symbol) = symbol.filter(|_| self.own_units().is_empty()) {
            return Some(symbol.to_string());
        }
        let word = self.number.after.as_deref()?;
        let is_free = HARMLESS.contains(&word) || is_degree(word);
        let is_id = self.taker.is_some_and(|taker| taker.role == Role::Id);
        let is_own = self.units().iter().any(|unit| self.own_units().contains(unit));
        let is_known = is_own || self.is_passed() || self.knows(word);
        (!is_free && !is_id && !is_known).then(|| word.to_owned())
    }

    /// Whether the word after the number is passed to the tool itself.
    fn is_passed(&self) -> bool {
        let Some(word) = self.number.after.as_deref() else {
            return false;
        };
        let rest = self.rest();
        let at = self.number.span.end + rest.len() - rest.trim_start_matches([' ', '-']).len();
        let mut used = self.filled.used.iter().map(|at| &self.said.literals[*at]);
        let says = |argument: &Argument| match argument {
            Argument::Value(value) => value
                .as_str()
                .is_some_and(|text| catalog::words(&text.to_lowercase()).any(|said| said == word)),
            Argument::Result { .. } => false,
        };
        used.any(|literal| literal.span.contains(&at))
            || self.filled.arguments.iter().any(|(_, argument)| says(argument))
    }

    /// Whether what is said of the tool has the word.
    fn knows(&self, word: &str) -> bool {
        let definition = &self.entry.definition;
        let schema = definition.input_schema().to_string();
        let texts = [
            self.entry.tool.tool.as_str(),
            definition.title.as_deref().unwrap_or_default(),
            definition.description.as_deref().unwrap_or_default(),
            &schema,
        ];
        let stem = |word: &str| catalog::stem(word.to_lowercase());
        texts
            .into_iter()
            .flat_map(catalog::words)
            .any(|own| stem(own) == stem(word))
    }

    /// Whether one of these words leads to the number.
    fn before(&self, words: &[&str]) -> bool {
        let mut before = self.number.before.iter().map(String::as_str);
        let nearest = before.find(|word| !matches!(*word, "a" | "of" | "the" | "that" | "these" | "those"));
        nearest.is_some_and(|nearest| words.contains(&nearest))
    }

    /// Whether one of these phrases stands after the number and its unit.
    fn is_followed_by(&self, phrases: &[&str]) -> bool {
        let rest = self.after_unit();
        phrases.iter().any(|phrase| rest.starts_with(phrase))
    }

    /// What stands after the number.
    fn rest(&self) -> &str {
        &self.task[self.number.span.end..]
    }

    /// What stands after the number and the word that belongs to it, in small letters.
    fn after_unit(&self) -> String {
        let rest = self.rest().trim_start_matches([' ', '-']).to_lowercase();
        let unit = self.number.after.as_deref().unwrap_or_default();
        rest.strip_prefix(unit).unwrap_or(&rest).trim_start().to_owned()
    }

    /// Whether another number stands right beside it: "five hundred".
    fn is_in_parts(&self) -> bool {
        let is_beside = |one: &Literal, other: &Literal| {
            let between = self.task.get(one.span.end..other.span.start);
            between.is_some_and(|between| matches!(between, " " | "-"))
        };
        let literals = self.said.literals.iter();
        let mut others = literals.filter(|literal| literal.kind == Kind::Number);
        others.any(|other| is_beside(self.number, other) || is_beside(other, self.number))
    }
}
