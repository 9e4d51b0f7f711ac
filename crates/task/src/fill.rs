//! Filling a tool's parameters from what a step says and from what earlier steps give.

mod choices;
mod earlier;
mod lists;
mod order;
pub(crate) mod said;
mod score;

use std::cell::OnceCell;
use std::ops::Range;

use catalog::{Check, Entry, Partial};
use serde_json::Value;

use crate::literals::{Kind, Literal};
use crate::parameters::{self, Parameter, Role, Takes};
use crate::plan::{Argument, Missing};
use crate::{verbs, vocabulary};
pub(crate) use earlier::Earlier;
use earlier::referred;
use said::{Reference, Said};
pub(crate) use score::{around as leads_to, is_bound};

/// The arguments of one call.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// In the order of the parameters.
    pub(crate) arguments: Vec<(String, Argument)>,
    pub(crate) missing: Vec<Missing>,
    /// Which literals of the step are in the arguments.
    pub(crate) used: Vec<usize>,
    /// Which references of the step are.
    pub(crate) referred: Vec<usize>,
    /// Further values of one parameter, for which the call is to be repeated.
    pub(crate) repeated: Option<(String, Vec<Value>)>,
    /// Where words stand that chose something.
    pub(crate) places: Vec<Range<usize>>,
    /// Which words of the step turn a switch off.
    pub(crate) turned: Vec<usize>,
    /// Literals, and the names of the parameters that took them whole.
    pub(crate) takers: Vec<(usize, String)>,
    /// Whether a value could hardly be meant for anything else: a calculation for an expression, a place for a time zone.
    pub(crate) is_telling: bool,
    /// What is said and may mean more than one thing, or is no value of its parameter; in words that follow the step.
    pub(crate) unclear: Option<String>,
}

/// What may fill a parameter.
#[derive(Debug, Clone)]
enum Source {
    Literal(usize),
    Reference(usize, Argument),
}

/// Fills what can be filled.
pub(crate) fn fill(entry: &Entry, task: &str, said: &Said, earlier: &[Earlier]) -> Filled {
    let parameters = parameters::parameters(&entry.definition.input_schema());
    let names = [entry.tool.server.as_str(), entry.tool.tool.as_str()];
    let own: Vec<String> = names
        .into_iter()
        .flat_map(catalog::words)
        .map(|word| catalog::stem(word.to_lowercase()))
        .collect();
    let mut filling = Filling {
        entry,
        check: OnceCell::new(),
        reads: verbs::reads(entry),
        task,
        said,
        own,
        values: vec![None; parameters.len()],
        used: vec![false; said.literals.len()],
        referred: vec![false; said.references.len()],
        places: Vec::new(),
        turned: Vec::new(),
        unclear: None,
        parameters,
    };
    filling.choose();
    filling.assign(earlier);
    filling.gather();
    filling.inherit(earlier);
    filling.finish()
}

struct Filling<'a> {
    entry: &'a Entry,
    /// The check of the tool's arguments, once a value is held against it.
    check: OnceCell<Check>,
    /// Whether a call of the tool changes nothing.
    reads: bool,
    task: &'a str,
    said: &'a Said,
    /// The stems of the tool's and its server's name.
    own: Vec<String>,
    parameters: Vec<Parameter>,
    values: Vec<Option<(Argument, Option<usize>)>>,
    used: Vec<bool>,
    referred: Vec<bool>,
    places: Vec<Range<usize>>,
    turned: Vec<usize>,
    unclear: Option<String>,
}

impl Filling<'_> {
    /// Parameters with choices, by words.
    fn choose(&mut self) {
        let chosen = choices::chosen(&self.parameters, self.task, self.said, &self.own);
        for (at, value) in chosen.values {
            if value == Value::Bool(false) {
                let turning = choices::turned_by(&self.parameters[at], self.said, &self.own);
                self.turned.extend(turning);
            }
            self.values[at] = Some((Argument::Value(value), None));
        }
        self.unclear = chosen.unclear;
        for (literal, used) in self.said.literals.iter().zip(&mut self.used) {
            *used |= chosen.places.contains(&literal.span);
        }
        self.places = chosen.places;
    }

    /// The others, the best fit first; what is said first goes to the parameter that comes first.
    fn assign(&mut self, earlier: &[Earlier]) {
        let mut fits: Vec<(f32, usize, Source)> = Vec::new();
        for (at, parameter) in self.parameters.iter().enumerate() {
            if self.values[at].is_none() {
                let literals = self.said.literals.iter().enumerate();
                let literals = literals.filter(|(_, literal)| self.may_take(parameter, literal));
                fits.extend(literals.filter_map(|(number, literal)| {
                    Some((score::literal(parameter, literal)?, at, Source::Literal(number)))
                }));
            }
        }
        let mut is_said: Vec<bool> = self.values.iter().map(Option::is_some).collect();
        for (_, at, _) in &fits {
            is_said[*at] = true;
        }
        for (at, parameter) in self.parameters.iter().enumerate() {
            if self.values[at].is_some() || !parameter.choices.is_empty() {
                continue;
            }
            let references = self.said.references.iter().enumerate();
            let references = references.filter(|(_, reference)| !self.is_object(reference, at, &is_said));
            fits.extend(references.filter_map(|(number, reference)| {
                let (score, argument) = referred(parameter, reference, earlier)?;
                Some((score, at, Source::Reference(number, argument)))
            }));
        }
        let required = |at: usize| self.parameters[at].is_required;
        // The sort is stable: of equal fits the parameters' and the text's order decide.
        fits.sort_by(|a, b| b.0.total_cmp(&a.0).then(required(b.1).cmp(&required(a.1))));
        for (_, at, source) in fits {
            self.take(at, source);
        }
    }

    /// Whether the parameter may take the literal at all.
    fn may_take(&self, parameter: &Parameter, literal: &Literal) -> bool {
        let leads = literal.before.first().map_or("", String::as_str);
        let is_certain = match (parameter.role, literal.kind) {
            _ if self.reads || literal.key.is_some() => true,
            (Role::Name, Kind::Phrase) => matches!(leads, "called" | "named" | "titled"),
            (Role::Prose, Kind::Quoted | Kind::Json) => true,
            (Role::Prose, _) | (Role::Unknown, Kind::Phrase) => self.is_text(parameter, literal, leads),
            _ => true,
        };
        let is_certain = is_certain && (self.reads || parameter.role == Role::Unit || !self.is_unit(literal));
        let has_no_choices = parameter.choices.is_empty() || literal.key.is_some();
        is_certain && has_no_choices && !self.is_own(literal)
    }

    /// Whether what changes something may take the words for a text: "write the first line in Paris to paris.txt" says none.
    fn is_text(&self, parameter: &Parameter, literal: &Literal, leads: &str) -> bool {
        let is_called = parameter.is_called(leads);
        let is_led = match literal.kind {
            _ if vocabulary::is_preposition(leads) => score::around(parameter, literal) > 0.0,
            // After another word than the verb it is what that names.
            Kind::Phrase => is_called || self.said.verb() == Some(leads),
            _ => true,
        };
        is_led && (is_called || !said::is_thing(self.task, literal))
    }

    /// Whether the name is the unit of the number before it: "20 GB".
    fn is_unit(&self, literal: &Literal) -> bool {
        let text = literal
            .text()
            .filter(|_| literal.kind == Kind::Name)
            .unwrap_or_default();
        let mut others = self.said.literals.iter();
        let follows = others.any(|number| {
            number.kind == Kind::Number
                && matches!(
                    self.task.get(number.span.end..literal.span.start),
                    Some("" | " " | "-")
                )
        });
        let is_short = (1..=4).contains(&text.chars().count())
            && (text.len() == 1 || text.chars().filter(|c| c.is_uppercase()).count() > 1);
        follows && is_short && text.chars().all(char::is_alphabetic)
    }

    /// Whether "the NOUN" is what the step says for another parameter, or what the tool is for, and no earlier result.
    fn is_object(&self, reference: &Reference, target: usize, is_said: &[bool]) -> bool {
        let Some(noun) = reference.noun.as_ref().filter(|_| !reference.is_certain) else {
            return false;
        };
        let is_other =
            |(at, parameter): (usize, &Parameter)| at != target && is_said[at] && parameter.is_called(noun);
        let is_own =
            self.own.contains(&catalog::stem(noun.clone())) && !self.parameters[target].is_called(noun);
        is_own || self.parameters.iter().enumerate().any(is_other)
    }

    /// A phrase that only repeats what the tool is called is no value.
    fn is_own(&self, literal: &Literal) -> bool {
        let is_own = |word: &str| {
            let stem = catalog::stem(word.to_lowercase());
            self.own.contains(&stem)
                || self
                    .parameters
                    .iter()
                    .any(|parameter| parameter.is_called(&word.to_lowercase()))
        };
        literal.kind == Kind::Phrase
            && literal
                .text()
                .is_some_and(|text| catalog::words(text).all(is_own))
    }

    fn take(&mut self, at: usize, source: Source) {
        if self.values[at].is_some() {
            return;
        }
        let (argument, literal) = match source {
            Source::Literal(number) if !self.overlaps(number) => {
                let literal = &self.said.literals[number];
                let value = self.value(&self.parameters[at], literal);
                if let Some(refusal) = self.refusal(at, &value) {
                    if literal.key.is_some() {
                        self.used[number] = true;
                        self.unclear.get_or_insert(refusal);
                    }
                    return;
                }
                self.used[number] = true;
                (Argument::Value(value), Some(number))
            }
            Source::Reference(number, argument) if !self.referred[number] => {
                self.referred[number] = true;
                (argument, None)
            }
            _ => return,
        };
        self.values[at] = Some((argument, literal));
    }

    /// What is passed for the literal.
    fn value(&self, parameter: &Parameter, literal: &Literal) -> Value {
        if let Some(zone) = parameter.zone(literal) {
            return zone.into();
        }
        let takes = &parameter.takes;
        let written = (*takes == Takes::Text)
            .then(|| written(literal, self.task))
            .flatten();
        written.unwrap_or_else(|| as_taken(takes, literal.value.clone()))
    }

    /// What the tool's own schema has against the value, in words that follow the step.
    fn refusal(&self, at: usize, value: &Value) -> Option<String> {
        let name = self.parameters[at].name.clone();
        let partial = Partial {
            arguments: [(name, value.clone())].into_iter().collect(),
            unknown: Vec::new(),
            open: vec![Vec::new()],
        };
        let check = self.check.get_or_init(|| self.entry.check());
        let problem = self.entry.contradictions(check, &partial).into_iter().next()?;
        Some(format!(
            "has a value that {} does not take: {problem}",
            self.entry.tool
        ))
    }

    /// Whether the literal or a part of it is used.
    fn overlaps(&self, number: usize) -> bool {
        let span = &self.said.literals[number].span;
        let mut used = self
            .said
            .literals
            .iter()
            .zip(&self.used)
            .filter(|(_, used)| **used);
        used.any(|(other, _)| other.span.start < span.end && span.start < other.span.end)
    }

    /// A word before the name of a parameter that nothing fills, which may be its value: "at the harbour branch".
    fn beside_name(&self) -> Option<String> {
        let mut left = self.parameters.iter().zip(&self.values);
        left.find_map(|(parameter, value)| {
            let [name] = parameter.words.as_slice() else {
                return None;
            };
            let is_free = value.is_none() && matches!(parameter.takes, Takes::Text | Takes::Anything);
            let mut phrases = self
                .said
                .literals
                .iter()
                .filter(|literal| literal.kind == Kind::Phrase);
            phrases.find_map(|phrase| {
                let (word, noun) = phrase.text()?.split_once(' ')?;
                (is_free && noun.eq_ignore_ascii_case(name)).then(|| {
                    let name = &parameter.name;
                    format!("says '{word} {noun}', which is not passed; write {name}={word}, or leave it out")
                })
            })
        })
    }

    fn finish(mut self) -> Filled {
        if !self.reads && self.unclear.is_none() {
            self.unclear = self.beside_name().or_else(|| self.exchangeable());
        }
        let repeated = self.repeated();
        let mut filled = Filled {
            repeated,
            places: self.places,
            turned: self.turned,
            unclear: self.unclear,
            ..Filled::default()
        };
        for (parameter, value) in self.parameters.iter().zip(self.values) {
            if let Some((_, Some(literal))) = value {
                filled.is_telling |= self.said.tells(parameter, &self.said.literals[literal]);
                filled.takers.push((literal, parameter.name.clone()));
            }
            let default = || {
                parameter
                    .default
                    .clone()
                    .filter(|_| parameter.is_required)
                    .map(Argument::Value)
            };
            match value.map(|(argument, _)| argument).or_else(default) {
                Some(argument) => filled.arguments.push((parameter.name.clone(), argument)),
                None if parameter.is_required => filled.missing.push(Missing::of(parameter)),
                None => {}
            }
        }
        let numbers = |flags: &[bool]| (0..flags.len()).filter(|at| flags[*at]).collect();
        filled.used = numbers(&self.used);
        filled.referred = numbers(&self.referred);
        filled
    }
}

/// A number in figures as the text has it: the id 00123 is not 123.
fn written(literal: &Literal, task: &str) -> Option<Value> {
    let text = task.get(literal.span.clone())?;
    let text = text.split_once('=').map_or(text, |(_, value)| value);
    let text = text.trim_start_matches(['$', '\u{20ac}', '\u{a3}']);
    let is_figure = literal.kind == Kind::Number && text.contains(|c: char| c.is_ascii_digit());
    is_figure.then(|| text.into())
}

/// A number or JSON as text where a text is taken; all else as it is.
fn as_taken(takes: &Takes, value: Value) -> Value {
    match (takes, value) {
        (Takes::Text, Value::Number(number)) => Value::String(number.to_string()),
        (Takes::Text, json @ (Value::Array(_) | Value::Object(_))) => Value::String(json.to_string()),
        (Takes::Integer, Value::Number(number)) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "whole and far within the range")]
            Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => Value::from(whole as i64),
            _ => Value::Number(number),
        },
        (_, value) => value,
    }
}
