//! Two values of which nothing but their order tells which parameter each is for.

use super::lists::is_joint;
use super::{Filling, score};
use crate::literals::{Kind, Literal};

/// A difference of fits that says nothing.
const AS_GOOD: f32 = 0.01;

impl Filling<'_> {
    /// Whether two values of one kind would fit each other's parameter as well, in words that follow the step: "prescribe
    /// Ibuprofen to Ann Bell". The order of a list or of a range says enough.
    pub(super) fn exchangeable(&self) -> Option<String> {
        let taken: Vec<(usize, usize)> = self
            .values
            .iter()
            .enumerate()
            .filter_map(|(at, value)| Some((at, value.as_ref()?.1?)))
            .collect();
        let pairs = taken.iter().enumerate().flat_map(|(first, one)| {
            let others = taken[first + 1..].iter();
            others.map(move |other| (*one, *other))
        });
        let (one, other) = pairs
            .into_iter()
            .find(|(one, other)| self.is_exchangeable(*one, *other))?;
        let shown = |(_, literal): (usize, usize)| &self.task[self.said.literals[literal].span.clone()];
        let name = |(at, _): (usize, usize)| &self.parameters[at].name;
        Some(format!(
            "leaves open which of {} and {} is '{}' and which is '{}'; write {}=\"...\" and {}=\"...\"",
            shown(one),
            shown(other),
            name(one),
            name(other),
            name(one),
            name(other),
        ))
    }

    /// Whether the parameter and the literal of the one may change with those of the other.
    fn is_exchangeable(&self, one: (usize, usize), other: (usize, usize)) -> bool {
        let literal = |number: usize| &self.said.literals[number];
        let fit = |at: usize, number: usize| {
            let parameter = &self.parameters[at];
            let may = self.may_take(parameter, literal(number));
            let is_valid = || {
                let value = self.value(parameter, literal(number));
                self.refusal(at, &value).is_none()
            };
            let score = score::literal(parameter, literal(number)).filter(|_| may)?;
            is_valid().then_some(score)
        };
        let fits = |one_at: usize, other_at: usize| Some(fit(one_at, one.1)? + fit(other_at, other.1)?);
        let (Some(own), Some(exchanged)) = (fits(one.0, other.0), fits(other.0, one.0)) else {
            return false;
        };
        let (first, second) = (literal(one.1), literal(other.1));
        first.kind == second.kind && exchanged + AS_GOOD >= own && !self.is_in_order(first, second)
    }

    /// Whether the one and then the other are a list or, of what has an order, a range.
    fn is_in_order(&self, first: &Literal, second: &Literal) -> bool {
        let Some(between) = self.task.get(first.span.end..second.span.start) else {
            return false;
        };
        let is_ordered = matches!(first.kind, Kind::Date | Kind::Number | Kind::Time);
        let is_pair = first.before.first().is_some_and(|word| word == "between");
        is_joint(between, first) && (is_ordered || !is_pair)
            || is_ordered
                && matches!(
                    between.trim(),
                    "-" | "by" | "through" | "till" | "to" | "until" | "x"
                )
    }
}
