//! Step 4: a call's arguments, from the clause's words and the results of earlier steps.

mod candidates;
mod fit;
mod results;

use std::collections::BTreeSet;

use catalog::Entry;
use serde_json::Value;

use crate::call::{Argument, MissingArgument};
use crate::clauses::Clause;
use crate::parameters::{self, Parameter, Role, ValueType};

use crate::verbs::{self, stem};
use crate::vocabulary::{self, WordList};
use crate::words::{Word, WordKind};
use candidates::{Candidate, candidates};
pub(crate) use results::EarlierStep;

#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// In the order of the parameters.
    pub(crate) arguments: Vec<(String, Argument)>,
    pub(crate) missing: Vec<MissingArgument>,
    /// For each word of the clause: an argument comes from the word, or the word leads to one.
    pub(crate) used: Vec<bool>,
    /// A value hardly fits another tool: arithmetic for an expression, a place for a time zone.
    pub(crate) is_telling: bool,
    /// What the clause leaves open; completes a sentence about the clause.
    pub(crate) unclear: Option<String>,
}

/// Words beside a switch's name that set the switch.
const STATES: WordList = WordList("disable disabled enable enabled false from off on true yes");
/// Neighbouring words examined on each side of a choice.
const NEAR: usize = 2;

pub(crate) fn fill(entry: &Entry, task: &str, clause: &Clause<'_>, earlier: &[EarlierStep]) -> Filled {
    let names = [entry.tool.server.as_str(), entry.tool.tool.as_str()];
    let parameters = parameters::parameters(&entry.definition.input_schema());
    let reads = verbs::reads(entry);
    let mut filling = Filling {
        reads,
        task,
        clause,
        own: names.into_iter().flat_map(catalog::words).map(stem).collect(),
        candidates: candidates(clause)
            .filter(|one| one.word.is_value() || reads && one.is_word_of_value())
            .collect(),
        values: vec![None; parameters.len()],
        used: vec![false; clause.words.len()],
        unclear: None,
        parameters,
    };
    filling.take_keyed();
    filling.choose();
    filling.assign();
    filling.refer(earlier);
    filling.finish()
}

struct Filling<'a> {
    reads: bool,
    task: &'a str,
    clause: &'a Clause<'a>,
    /// Stems of the tool's and the server's name.
    own: BTreeSet<String>,
    candidates: Vec<Candidate<'a>>,
    parameters: Vec<Parameter>,
    /// By parameter: the argument, and the candidate that its value comes from.
    values: Vec<Option<(Argument, Option<usize>)>>,
    used: Vec<bool>,
    unclear: Option<String>,
}

// === impl Filling ===

impl Filling<'_> {
    /// Takes `parameter=value` from the clause. Reports a value that the tool refuses.
    fn take_keyed(&mut self) {
        for number in 0..self.candidates.len() {
            let key = self.candidates[number].word.key.as_ref();
            let mut parameters = self.parameters.iter();
            let is_it = |parameter: &Parameter| Some(&parameter.name.to_lowercase()) == key;
            let Some(at) = parameters.position(is_it) else {
                continue;
            };
            let value = self.value(&self.parameters[at], &self.candidates[number]);
            self.give(at, number, value);
        }
    }

    /// Sets choices that one word of the clause names, and turns on named switches. The meaning is
    /// open if a word fits two parameters, a parameter has two choices, or "not" or "off" stands
    /// beside a switch.
    fn choose(&mut self) {
        let words = self.clause.words;
        let mut said: Vec<(usize, usize, Value)> = Vec::new();
        for (at, parameter) in self.parameters.iter().enumerate() {
            let is_open = self.values[at].is_none();
            for (place, word) in words.iter().enumerate().filter(|_| is_open) {
                let is_own = self.own.contains(&stem(&word.lower));
                let choice = parameter.choice(word).filter(|_| !is_own);
                said.extend(choice.map(|choice| (at, place, choice)));
            }
        }
        for (at, place, value) in &said {
            let is_rival = |other: &&(usize, usize, Value)| (other.0 == *at) != (other.1 == *place);
            let near = &words[place.saturating_sub(NEAR)..words.len().min(place + NEAR + 1)];
            let turns = |word: &Word| vocabulary::is_negation(&word.lower) || STATES.has(&word.lower);
            if said.iter().any(|other| is_rival(&other)) || value.is_boolean() && near.iter().any(turns) {
                let name = &self.parameters[*at].name;
                let message = format!("leaves open what '{name}' is to be; write {name}=... or leave it out");
                self.unclear.get_or_insert(message);
            }
            let value = self.parameters[*at].wrapped(value.clone());
            self.values[*at] = Some((Argument::Value(value), None));
            self.used[*place] = true;
        }
    }

    /// Assigns the best-fitting values to the other parameters.
    fn assign(&mut self) {
        let mut fits: Vec<(f32, usize, usize)> = Vec::new();
        for (at, parameter) in self.parameters.iter().enumerate() {
            if self.values[at].is_none() && parameter.choices.is_empty() {
                let numbers = 0..self.candidates.len();
                fits.extend(numbers.filter_map(|number| Some((self.fit(parameter, number)?, at, number))));
            }
        }
        let is_required = |at: usize| self.parameters[at].is_required;
        // The sort is stable: equal fits keep the order of parameters and text.
        fits.sort_by(|a, b| b.0.total_cmp(&a.0).then(is_required(b.1).cmp(&is_required(a.1))));
        for (_, at, number) in fits {
            let value = self.value(&self.parameters[at], &self.candidates[number]);
            if self.values[at].is_none() && self.is_free(number) {
                self.give(at, number, value);
            }
        }
        if !self.reads {
            self.unclear = self.unclear.take().or_else(|| self.exchangeable());
        }
    }

    /// Two values of one kind, without words that lead to their parameters: "prescribe Ibuprofen to
    /// Ann Bell". Completes a sentence about the clause. Numbers in a list or range are in order:
    /// "add 5 and 3".
    fn exchangeable(&self) -> Option<String> {
        let mut unled: Vec<(&str, &Candidate<'_>)> = Vec::new();
        for (parameter, value) in self.parameters.iter().zip(&self.values) {
            let number = value.as_ref().and_then(|(_, number)| *number);
            let candidate = number.map(|number| &self.candidates[number]);
            let is_led = |one: &Candidate<'_>| one.word.key.is_some() || fit::around(parameter, one) > 0.0;
            let candidate = candidate.filter(|one| !is_led(one));
            unled.extend(candidate.map(|one| (parameter.name.as_str(), one)));
        }
        let is_open = |pair: &&[(&str, &Candidate<'_>)]| {
            let (one, other) = (pair[0].1, pair[1].1);
            let between = &self.clause.words[one.at.min(other.at) + 1..one.at.max(other.at)];
            let joins = |word: &Word| matches!(word.lower.as_str(), "and" | "by" | "to" | "until");
            one.word.kind == other.word.kind
                && !(one.word.kind == WordKind::Number && between.iter().all(joins))
        };
        let pair = unled.windows(2).find(is_open)?;
        let [first, second] = [pair[0].0, pair[1].0];
        let [one, other] = [0, 1].map(|at| &self.task[pair[at].1.word.span.clone()]);
        Some(format!(
            "leaves open which of {one} and {other} is '{first}' and which is '{second}'; write {first}=... and {second}=..."
        ))
    }

    /// How well the candidate fits the parameter; `None` if it does not.
    fn fit(&self, parameter: &Parameter, number: usize) -> Option<f32> {
        let candidate = &self.candidates[number];
        // A word of the tool's name is not a value.
        let word = candidate.word.value.as_str().unwrap_or_default();
        let is_name = self.parameters.iter().any(|other| other.is_called(word));
        let is_own = is_name || self.own.contains(&stem(word));
        let may_take = self.reads || fit::is_certain(parameter, candidate);
        let is_value = self.is_free(number) && !(is_own && candidate.word.kind == WordKind::Plain);
        fit::score(parameter, candidate).filter(|_| may_take && is_value)
    }

    /// Assigns the value, and marks the word that leads to it as used: "before 2026-05-01" for `before`.
    fn give(&mut self, at: usize, number: usize, value: Value) {
        let (parameter, candidate) = (&self.parameters[at], &self.candidates[number]);
        self.used[candidate.at] = true;
        let is_led = fit::led(parameter, candidate.lead) > 0.0;
        if let Some(lead) = candidate.lead_at.filter(|_| is_led) {
            self.used[lead] = true;
        }
        self.values[at] = Some((Argument::Value(value), Some(number)));
    }

    fn is_free(&self, number: usize) -> bool {
        let candidate = &self.candidates[number];
        candidate.word.key.is_none() && !self.used[candidate.at]
    }

    fn value(&self, parameter: &Parameter, candidate: &Candidate<'_>) -> Value {
        let text = candidate.word.value.as_str();
        let keyed = || candidate.word.key.as_ref().and_then(|_| parameter.keyed(text?));
        if let Some(value) = parameter.zone(text).map(Value::from).or_else(keyed) {
            return value;
        }
        let written = &self.task[candidate.word.span.clone()];
        let value = match (&parameter.value_type, &candidate.word.value) {
            // Keep the spelling: id 00123 is not 123.
            (ValueType::Text, Value::Number(_)) => written.rsplit('=').next().into(),
            (ValueType::Text, json @ (Value::Array(_) | Value::Object(_))) => json.to_string().into(),
            (_, value) => value.clone(),
        };
        parameter.wrapped(value)
    }

    fn finish(self) -> Filled {
        let mut filled = Filled::default();
        for (parameter, value) in self.parameters.iter().zip(self.values) {
            if let Some((_, Some(number))) = value {
                let word = self.candidates[number].word;
                let is_calculation = word.kind == WordKind::Expression;
                let is_place = parameter.zone(word.text()).is_some() && self.clause.asks_for_time();
                filled.is_telling |= is_calculation && parameter.role == Role::Is(word.kind) || is_place;
            }
            match value {
                Some((argument, _)) => filled.arguments.push((parameter.name.clone(), argument)),
                None if parameter.is_required => filled.missing.push(MissingArgument::of(parameter)),
                None => {}
            }
        }
        filled.used = self.used;
        filled.unclear = self.unclear;
        filled
    }
}
