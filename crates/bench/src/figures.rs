//! Samples and what is stated of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::place::Placement;

/// What one measurement came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// Where.
    pub placement: Placement,
    /// Number of samples.
    pub samples: usize,
    /// Median in microseconds.
    pub p50: f64,
    /// 99th percentile in microseconds.
    pub p99: f64,
    /// Name of the floor that was measured in turn with it.
    pub floor: Option<String>,
    /// Median divided by the floor's.
    pub ratio: Option<f64>,
}

/// Durations of one thing.
#[derive(Debug, Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// Adds one.
    pub fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    /// Median and 99th percentile in microseconds.
    fn percentiles(&mut self) -> (f64, f64) {
        self.0.sort();
        let at = |per_mille: usize| {
            let last = self.0.len().saturating_sub(1);
            self.0
                .get(last * per_mille / 1000)
                .map_or(0.0, |sample| sample.as_secs_f64() * 1e6)
        };
        (at(500), at(990))
    }

    /// The figure of a floor, or of something that has none.
    pub fn figure(mut self, name: &str, placement: Placement) -> Figure {
        let (p50, p99) = self.percentiles();
        Figure {
            name: name.to_owned(),
            placement,
            samples: self.0.len(),
            p50,
            p99,
            floor: None,
            ratio: None,
        }
    }

    /// The figure of something beside its floor.
    pub fn figure_over(self, name: &str, floor: &Figure) -> Figure {
        let figure = self.figure(name, floor.placement);
        let ratio = figure.p50 / floor.p50;
        Figure {
            floor: Some(floor.name.clone()),
            ratio: Some(ratio),
            ..figure
        }
    }
}
