//! Values that stand in a list: for a parameter that takes one, or for a call that is made for each.

use serde_json::Value;

use super::{Filling, score};
use crate::literals::{Kind, Literal};
use crate::parameters::{Parameter, Role, Takes};
use crate::plan::Argument;
use crate::vocabulary;

impl Filling<'_> {
    /// Lists take all that is left and fits their items.
    pub(super) fn gather(&mut self) {
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
                let is_shown = shows(parameter, literal);
                let is_left = literal.key.is_none() && !self.used[*number];
                let is_item = literal.kind.is_marked() || is_shown;
                let score = if is_shown {
                    Some(score::SURELY)
                } else {
                    score::literal(&item, literal)
                };
                score.filter(|_| is_left && is_item)
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
            let same = self.longest_list(left.filter(is_same).collect());
            if !parameter.is_required && same.len() < 2 {
                continue;
            }
            let values = same
                .iter()
                .map(|number| self.value(&item, &self.said.literals[*number]));
            let values: Value = values.collect();
            if self.refusal(at, &values).is_some() {
                continue;
            }
            self.values[at] = Some((Argument::Value(values), None));
            for number in same {
                self.used[number] = true;
            }
        }
    }

    /// Of these the most that stand in one list, "42, 37 and 18"; all, if none do. For what changes something the first list.
    fn longest_list(&self, all: Vec<usize>) -> Vec<usize> {
        let span = |number: usize| &self.said.literals[number].span;
        let joined = |a: &usize, b: &usize| {
            let between = self.task.get(span(*a).end..span(*b).start);
            is_joint(between.unwrap_or_default(), &self.said.literals[*a])
        };
        let mut lists = all.chunk_by(joined);
        let longest = if self.reads {
            lists.max_by_key(|list| list.len())
        } else {
            lists.next()
        };
        match longest {
            Some(list) if list.len() > 1 => list.to_vec(),
            // Who is said for something else is no further recipient: "cc b@x.org".
            _ if !self.reads => all.into_iter().take(1).collect(),
            _ => all,
        }
    }

    /// Values that stand in a list with one that is used, where the parameter takes one only: "in Paris and London".
    pub(super) fn repeated(&mut self) -> Option<(String, Vec<Value>)> {
        for at in 0..self.parameters.len() {
            let Some((_, Some(number))) = self.values[at] else {
                continue;
            };
            let (parameter, first) = (&self.parameters[at], &self.said.literals[number]);
            let is_one = match (&parameter.takes, first.kind) {
                (_, Kind::Json) => false,
                (Takes::Text, _) => first.kind.is_marked(),
                (Takes::Integer, Kind::Number) => parameter.role == Role::Id,
                (Takes::Anything, kind) => kind.is_marked() && kind != Kind::Number,
                _ => false,
            };
            let mut end = first.span.end;
            let (mut values, mut numbers) = (Vec::new(), Vec::new());
            for (other, literal) in self.said.literals.iter().enumerate().filter(|_| is_one) {
                let is_left = literal.kind == first.kind && !self.used[other] && literal.span.start >= end;
                let value = self.value(parameter, literal);
                if is_left
                    && is_joint(&self.task[end..literal.span.start], first)
                    && self.refusal(at, &value).is_none()
                {
                    end = literal.span.end;
                    values.push(value);
                    numbers.push(other);
                }
            }
            if !values.is_empty() {
                let name = parameter.name.clone();
                numbers.into_iter().for_each(|number| self.used[number] = true);
                return Some((name, values));
            }
        }
        None
    }
}

/// Whether the parameter's description has the plain word as an example.
fn shows(parameter: &Parameter, literal: &Literal) -> bool {
    let Some(text) = literal.text().filter(|_| literal.kind == Kind::Phrase) else {
        return false;
    };
    let mut words = catalog::words(&parameter.about);
    !vocabulary::is_small(text) && words.any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether this stands between the values of a list, of which `first` is one; what leads to it may be said again:
/// "in Paris and in London".
pub(super) fn is_joint(between: &str, first: &Literal) -> bool {
    let between = between.trim();
    let again = first
        .before
        .first()
        .filter(|word| vocabulary::is_preposition(word));
    let bare = again.and_then(|word| between.strip_suffix(word.as_str()));
    matches!(bare.unwrap_or(between).trim_end(), "and" | "," | ", and" | "&")
}
