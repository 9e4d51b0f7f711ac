//! Filling a tool's parameters from what a step says and from what earlier steps give.

mod choices;
pub(crate) mod said;
mod score;

use catalog::Entry;
use serde_json::Value;

use crate::literals::{Kind, Literal};
use crate::parameters::{self, Parameter, Role, Takes};
use crate::plan::{Argument, Missing};
use said::{Reference, Said};

/// What the result of an earlier step is.
#[derive(Debug, Clone)]
pub(crate) struct Earlier {
    /// The number of the step, from 1.
    pub(crate) step: usize,
    pub(crate) gives: Takes,
    /// Its fields by name.
    pub(crate) fields: Vec<(String, Takes)>,
    /// What it was called with.
    pub(crate) arguments: Vec<(String, Argument)>,
}

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
    /// Which words of the step turn a switch off.
    pub(crate) turned: Vec<usize>,
}

/// What may fill a parameter.
#[derive(Debug, Clone)]
enum Source {
    Literal(usize),
    Reference(usize, Argument),
}

/// Names of fields that are too common to mean the same in two tools.
const COMMON_FIELDS: &[&str] = &[
    "content", "data", "id", "message", "name", "result", "status", "text", "title", "type", "value",
];

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
        said,
        own,
        values: vec![None; parameters.len()],
        used: vec![false; said.literals.len()],
        referred: vec![false; said.references.len()],
        turned: Vec::new(),
        parameters,
    };
    filling.choose();
    filling.assign(earlier, task);
    filling.gather(task);
    filling.inherit(earlier);
    filling.finish(task)
}

struct Filling<'a> {
    said: &'a Said,
    /// The stems of the tool's and its server's name.
    own: Vec<String>,
    parameters: Vec<Parameter>,
    values: Vec<Option<(Argument, Option<usize>)>>,
    used: Vec<bool>,
    referred: Vec<bool>,
    turned: Vec<usize>,
}

impl Filling<'_> {
    /// Parameters with choices, by words.
    fn choose(&mut self) {
        for at in 0..self.parameters.len() {
            let parameter = &self.parameters[at];
            let Some(value) = choices::chosen(parameter, self.said, &self.own) else {
                continue;
            };
            if value == Value::Bool(false) {
                self.turned
                    .extend(choices::turned_by(parameter, self.said, &self.own));
            }
            let name = parameter.name.to_lowercase();
            for (literal, used) in self.said.literals.iter().zip(&mut self.used) {
                let is_it = literal
                    .text()
                    .zip(value.as_str())
                    .is_some_and(|(a, b)| a.eq_ignore_ascii_case(b));
                *used |= is_it || literal.key.as_ref() == Some(&name);
            }
            self.values[at] = Some((Argument::Value(value), None));
        }
    }

    /// The others, the best fit first; what is said first goes to the parameter that comes first.
    fn assign(&mut self, earlier: &[Earlier], task: &str) {
        let mut fits: Vec<(f32, usize, Source)> = Vec::new();
        for (at, parameter) in self.parameters.iter().enumerate() {
            if self.values[at].is_some() || !parameter.choices.is_empty() {
                continue;
            }
            let literals = self.said.literals.iter().enumerate();
            let literals = literals.filter(|(_, literal)| !self.is_own(literal));
            fits.extend(literals.filter_map(|(number, literal)| {
                Some((score::literal(parameter, literal)?, at, Source::Literal(number)))
            }));
            let references = self.said.references.iter().enumerate();
            fits.extend(references.filter_map(|(number, reference)| {
                let (score, argument) = referred(parameter, reference, earlier)?;
                Some((score, at, Source::Reference(number, argument)))
            }));
        }
        let required = |at: usize| self.parameters[at].is_required;
        // The sort is stable: of equal fits the parameters' and the text's order decide.
        fits.sort_by(|a, b| b.0.total_cmp(&a.0).then(required(b.1).cmp(&required(a.1))));
        for (_, at, source) in fits {
            self.take(at, source, task);
        }
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

    fn take(&mut self, at: usize, source: Source, task: &str) {
        if self.values[at].is_some() {
            return;
        }
        let (argument, literal) = match source {
            Source::Literal(number) if !self.overlaps(number) => {
                self.used[number] = true;
                let literal = &self.said.literals[number];
                let takes = &self.parameters[at].takes;
                let written = (*takes == Takes::Text).then(|| written(literal, task)).flatten();
                let value = written.unwrap_or_else(|| as_taken(takes, literal.value.clone()));
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

    /// Lists take all that is left and fits their items.
    fn gather(&mut self, task: &str) {
        for at in 0..self.parameters.len() {
            let parameter = &self.parameters[at];
            let (Takes::List(items), None) = (&parameter.takes, &self.values[at]) else {
                continue;
            };
            let item = Parameter {
                takes: (**items).clone(),
                is_required: true,
                ..parameter.clone()
            };
            let score = |number: &usize| {
                let literal = &self.said.literals[*number];
                let is_left = literal.kind.is_marked() && literal.key.is_none() && !self.used[*number];
                score::literal(&item, literal).filter(|_| is_left)
            };
            let left = 0..self.said.literals.len();
            // The first that surely is an item tells what the others are.
            let first = left
                .clone()
                .find(|number| score(number).is_some_and(|score| score >= score::SURELY));
            let Some(kind) = first.map(|first| self.said.literals[first].kind) else {
                continue;
            };
            let is_same =
                |number: &usize| self.said.literals[*number].kind == kind && score(number).is_some();
            let same = self.longest_list(task, left.filter(is_same).collect());
            if !parameter.is_required && same.len() < 2 {
                continue;
            }
            let values = same
                .iter()
                .map(|number| as_taken(&item.takes, self.said.literals[*number].value.clone()));
            self.values[at] = Some((Argument::Value(values.collect()), None));
            for number in same {
                self.used[number] = true;
            }
        }
    }

    /// Of these the most that stand in one list, "42, 37 and 18"; all, if none do.
    fn longest_list(&self, task: &str, all: Vec<usize>) -> Vec<usize> {
        let span = |number: usize| &self.said.literals[number].span;
        let joined =
            |a: &usize, b: &usize| is_joint(task.get(span(*a).end..span(*b).start).unwrap_or_default());
        let longest = all.chunk_by(joined).max_by_key(|list| list.len());
        match longest {
            Some(list) if list.len() > 1 => list.to_vec(),
            _ => all,
        }
    }

    /// What the call needs and an earlier result has under the same name; or, where the step refers to something, what an
    /// earlier call was given under that name: "write to notes.txt, then read it".
    fn inherit(&mut self, earlier: &[Earlier]) {
        let refers = self
            .said
            .references
            .iter()
            .any(|reference| reference.is_certain && !reference.counts);
        for at in 0..self.parameters.len() {
            let parameter = &self.parameters[at];
            let needs = self.values[at].is_none() && parameter.is_required && parameter.default.is_none();
            if !needs || COMMON_FIELDS.contains(&parameter.name.as_str()) {
                continue;
            }
            let field = |earlier: &Earlier| {
                let (name, gives) = earlier.fields.iter().find(|(name, _)| *name == parameter.name)?;
                agrees(&parameter.takes, gives).then(|| Argument::Result {
                    step: earlier.step,
                    field: Some(name.clone()),
                    as_text: false,
                })
            };
            let given = |earlier: &Earlier| {
                let same = earlier
                    .arguments
                    .iter()
                    .find(|(name, _)| *name == parameter.name)?;
                refers.then(|| same.1.clone())
            };
            let found = earlier
                .iter()
                .rev()
                .find_map(|earlier| given(earlier).or_else(|| field(earlier)));
            if let Some(argument) = found {
                self.values[at] = Some((argument, None));
            }
        }
    }

    fn finish(mut self, task: &str) -> Filled {
        let repeated = self.repeated(task);
        let mut filled = Filled {
            repeated,
            turned: self.turned,
            ..Filled::default()
        };
        for (parameter, value) in self.parameters.iter().zip(self.values) {
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

    /// Values that stand in a list with one that is used, where the parameter takes one only: "in Paris and London".
    fn repeated(&mut self, task: &str) -> Option<(String, Vec<Value>)> {
        for at in 0..self.parameters.len() {
            let Some((_, Some(number))) = self.values[at] else {
                continue;
            };
            let first = &self.said.literals[number];
            let is_text = matches!(self.parameters[at].takes, Takes::Text | Takes::Anything);
            if !is_text || !first.kind.is_marked() || matches!(first.kind, Kind::Number | Kind::Json) {
                continue;
            }
            let mut end = first.span.end;
            let mut values = Vec::new();
            for (other, used) in self.said.literals.iter().zip(&mut self.used) {
                let follows = other.kind == first.kind && !*used && other.span.start >= end;
                if follows && is_joint(&task[end..other.span.start]) {
                    (*used, end) = (true, other.span.end);
                    values.push(as_taken(&self.parameters[at].takes, other.value.clone()));
                }
            }
            if !values.is_empty() {
                return Some((self.parameters[at].name.clone(), values));
            }
        }
        None
    }
}

fn is_joint(between: &str) -> bool {
    matches!(between.trim(), "and" | "," | ", and" | "&")
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
        (Takes::Boolean, Value::String(text)) => Value::Bool(matches!(text.as_str(), "true" | "yes")),
        (Takes::Integer, Value::Number(number)) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "whole and far within the range")]
            Some(whole) if number.as_i64().is_none() && whole.abs() < 1e15 => Value::from(whole as i64),
            _ => Value::Number(number),
        },
        (_, value) => value,
    }
}

/// How well an earlier result fits that the reference means, and how it is passed on.
fn referred(parameter: &Parameter, reference: &Reference, earlier: &[Earlier]) -> Option<(f32, Argument)> {
    let last = earlier.last()?;
    let of_noun = |earlier: &Earlier| {
        let noun = reference.noun.as_ref()?;
        let (name, gives) = earlier
            .fields
            .iter()
            .find(|(name, _)| name.to_lowercase() == *noun)?;
        Some((earlier.step, Some(name.clone()), gives.clone()))
    };
    let found = earlier
        .iter()
        .rev()
        .find_map(of_noun)
        .filter(|_| !reference.counts);
    let whole = || {
        reference
            .is_certain
            .then(|| (last.step, None, last.gives.clone()))
    };
    let (step, field, gives) = found.or_else(whole)?;
    if reference.counts
        && !reference
            .noun
            .as_ref()
            .is_some_and(|noun| parameter.is_called(noun))
    {
        return None;
    }
    let named = field.as_ref().is_some_and(|field| *field == parameter.name);
    let score = match &parameter.takes {
        _ if named && agrees(&parameter.takes, &gives) => 1.5,
        Takes::Integer | Takes::Number if agrees(&parameter.takes, &gives) => 1.0,
        Takes::List(_) | Takes::Object if parameter.takes == gives => 1.2,
        Takes::List(_) | Takes::Object if gives == Takes::Anything => 0.6,
        Takes::Text | Takes::Anything => match parameter.role {
            Role::Prose | Role::Unknown => 0.95,
            Role::Verbatim | Role::Unit => return None,
            _ if gives == Takes::Text && field.is_some() => 0.7,
            Role::Expression if agrees(&Takes::Number, &gives) => 0.4,
            _ if gives == Takes::Text => 0.4,
            Role::Id if gives == Takes::Integer => 0.4,
            _ => return None,
        },
        _ => return None,
    };
    // What may be left out is meant only where it is named.
    if !parameter.is_required && score < 1.2 {
        return None;
    }
    let as_text = parameter.takes == Takes::Text && gives != Takes::Text;
    Some((score, Argument::Result { step, field, as_text }))
}

/// Whether a value of the one type is one of the other; of what is not known it may be.
fn agrees(takes: &Takes, gives: &Takes) -> bool {
    takes == gives
        || *takes == Takes::Anything
        || *gives == Takes::Anything
        || *takes == Takes::Number && *gives == Takes::Integer
}
