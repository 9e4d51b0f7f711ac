//! Samples and the figures computed from them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::gateways::rows::{FootprintRow, LoadRow};
use crate::placement::Placement;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figure {
    pub name: String,
    pub placement: Placement,
    pub samples: usize,
    pub unit: Unit,
    pub p50: f64,
    /// The 99th percentile; the first percentile where more is better.
    pub p99: f64,
    /// The name of the alternately measured figure.
    pub beside: Option<String>,
    /// This median divided by the other figure's median.
    pub ratio: Option<f64>,
    pub goal: Option<Goal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Micros,
    Bytes,
    PerSecond,
}

/// A promise, and whether this measurement keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Goal {
    pub promise: String,
    pub met: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Report {
    pub figures: Vec<Figure>,
    #[serde(default)]
    pub inputs: Vec<Input>,
    #[serde(default)]
    pub loads: Vec<LoadRow>,
    #[serde(default)]
    pub footprints: Vec<FootprintRow>,
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Input {
    pub parser: String,
    pub shape: String,
    pub bytes: usize,
    /// Peak growth of memory, in bytes.
    pub growth: f64,
    /// The limit of `growth`, in bytes.
    pub bound: f64,
    /// The longest short run of another session during the input, in microseconds; `None` without another session.
    pub delay: Option<f64>,
}

/// A figure that this machine could not measure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Skipped {
    pub name: String,
    pub reason: String,
}

#[derive(Debug, Default)]
pub struct Samples(Vec<f64>);

// === impl Report ===

impl Report {
    pub fn extend(&mut self, other: Report) {
        self.figures.extend(other.figures);
        self.inputs.extend(other.inputs);
        self.loads.extend(other.loads);
        self.footprints.extend(other.footprints);
        self.skipped.extend(other.skipped);
    }
}

impl From<Vec<Figure>> for Report {
    fn from(figures: Vec<Figure>) -> Self {
        Self {
            figures,
            ..Self::default()
        }
    }
}

// === impl Input ===

impl Input {
    /// The longest delay of another session that an input may cause, in microseconds.
    const LONGEST: f64 = 50_000.0;

    pub fn line(&self) -> String {
        let delay = self
            .delay
            .map_or_else(String::new, |delay| Unit::Micros.show(delay));
        format!(
            "{:<26} {:<11} {:>10} {:>11} {:>11} {delay:>10}  {}",
            self.parser,
            self.shape,
            self.bytes,
            Unit::Bytes.show(self.growth),
            Unit::Bytes.show(self.bound),
            if self.is_met() { "kept" } else { "NOT KEPT" },
        )
    }

    /// Whether memory and delay are within their limits.
    pub fn is_met(&self) -> bool {
        self.growth <= self.bound && self.delay.is_none_or(|delay| delay <= Self::LONGEST)
    }
}

// === impl Samples ===

impl Samples {
    pub fn push(&mut self, sample: Duration) {
        self.0.push(sample.as_secs_f64() * 1e6);
    }

    pub fn push_number(&mut self, sample: f64) {
        self.0.push(sample);
    }

    pub fn quartiles(&self) -> [f64; 2] {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        [1, 3].map(|quarter| sorted.get(last * quarter / 4).copied().unwrap_or_default())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In microseconds.
    pub fn figure(self, name: &str, placement: Placement) -> Figure {
        self.figure_in(Unit::Micros, name, placement)
    }

    pub fn figure_in(mut self, unit: Unit, name: &str, placement: Placement) -> Figure {
        self.0.sort_by(f64::total_cmp);
        let at = |per_mille: usize| {
            let last = self.0.len().saturating_sub(1);
            self.0.get(last * per_mille / 1000).copied().unwrap_or_default()
        };
        let tail = if unit == Unit::PerSecond { 10 } else { 990 };
        Figure {
            name: name.to_owned(),
            placement,
            samples: self.0.len(),
            unit,
            p50: at(500),
            p99: at(tail),
            beside: None,
            ratio: None,
            goal: None,
        }
    }

    pub fn figure_over(self, name: &str, floor: &Figure) -> Figure {
        self.figure(name, floor.placement).beside(floor)
    }
}

// === impl Figure ===

impl Figure {
    /// Whether the promise is kept; true without a promise.
    pub fn is_met(&self) -> bool {
        self.goal.as_ref().is_none_or(|goal| goal.met)
    }

    /// Compares the figure with another of the same run.
    pub fn beside(mut self, other: &Figure) -> Self {
        self.ratio = Some(self.p50 / other.p50);
        self.beside = Some(other.name.clone());
        self
    }

    /// Promises at most this multiple of the compared figure.
    pub fn at_most_times(self, most: f64) -> Self {
        let met = self.ratio.is_some_and(|ratio| ratio <= most);
        self.goal(format!("<= {most} x"), met)
    }

    /// Promises at most this multiple of the other figure's tail.
    pub fn tail_at_most_times(mut self, other: &Figure, most: f64) -> Self {
        let ratio = self.p99 / other.p99;
        self.ratio = Some(ratio);
        self.beside = Some(format!("p99 of {}", other.name));
        self.goal(format!("p99 <= {most} x"), ratio <= most)
    }

    /// Promises at most this many microseconds above the floor.
    pub fn at_most_over(self, floor: &Figure, more: f64) -> Self {
        let met = self.p50 <= floor.p50 + more;
        self.goal(format!("<= P + {more} us"), met)
    }

    /// Promises at most this many microseconds above the compared figure.
    pub fn at_most_more(self, other: &Figure, more: f64) -> Self {
        let met = self.p50 <= other.p50 + more;
        self.goal(format!("<= {more} us more"), met)
    }

    /// Promises a median of at most this, in the figure's unit.
    pub fn at_most(self, most: f64) -> Self {
        let met = self.p50 <= most;
        let promise = format!("<= {}", self.unit.show(most));
        self.goal(promise, met)
    }

    pub fn at_most_with_tail(self, most: f64, tail: f64) -> Self {
        let met = self.p50 <= most && self.p99 <= tail;
        let promise = format!("<= {}, p99 <= {}", self.unit.show(most), self.unit.show(tail));
        self.goal(promise, met)
    }

    pub fn at_least(self, least: f64) -> Self {
        let met = self.p50 >= least;
        let promise = format!(">= {}", self.unit.show(least));
        self.goal(promise, met)
    }

    fn goal(mut self, promise: String, met: bool) -> Self {
        self.goal = Some(Goal { promise, met });
        self
    }
}

// === impl Unit ===

impl Unit {
    /// A number with its unit, shortened.
    pub fn show(self, number: f64) -> String {
        match self {
            Unit::Micros if number.abs() < 100.0 => format!("{number:.1} us"),
            Unit::Micros if number < 1e3 => format!("{number:.0} us"),
            Unit::Micros if number < 1e6 => format!("{:.2} ms", number / 1e3),
            Unit::Micros => format!("{:.2} s", number / 1e6),
            Unit::Bytes => format!("{:.2} MB", number / 1e6),
            Unit::PerSecond => format!("{number:.0} / s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(numbers: impl IntoIterator<Item = u32>) -> Samples {
        Samples(numbers.into_iter().map(f64::from).collect())
    }

    #[test]
    fn percentiles_do_not_depend_on_the_order() {
        let figure = samples((0..=1000).rev()).figure("x", Placement::Free);
        assert_eq!((figure.samples, figure.p50, figure.p99), (1001, 500.0, 990.0));
        let rate = samples(0..=1000).figure_in(Unit::PerSecond, "x", Placement::Free);
        assert_eq!(rate.p99, 10.0, "the tail of a rate is its slow end");
    }

    #[test]
    fn a_goal_is_met_up_to_its_limit() {
        let floor = samples([100]).figure("floor", Placement::Free);
        let figure = |number| samples([number]).figure_over("x", &floor);
        let check = |figure: Figure, met| assert_eq!(figure.goal.map(|goal| goal.met), Some(met));
        check(figure(130).at_most_times(1.3), true);
        check(figure(131).at_most_times(1.3), false);
        check(figure(160).at_most_over(&floor, 60.0), true);
        check(figure(161).at_most_over(&floor, 60.0), false);
        check(figure(90).at_most_with_tail(100.0, 80.0), false);
        check(figure(90).at_least(100.0), false);
    }
}
