//! Decides whether a sampled number grows: the Theil-Sen slope of its sizes, with a confidence interval.
//!
//! The slope is the median of the slopes between all pairs of samples, which a few outliers cannot
//! move. The interval is Sen's, from the variance of Kendall's statistic; it assumes no
//! distribution of the sizes.

/// Share of the samples that count as warm-up.
const WARM_UP: f64 = 0.25;
/// Two-sided 95 % of the normal distribution.
const CONFIDENCE: f64 = 1.959_964;
/// Fewer samples decide nothing.
const FEWEST: usize = 8;

/// Sizes in order of time, each with the units of work done by then.
#[derive(Debug, Default)]
pub struct Looks(Vec<(f64, f64)>);

/// The result; slopes are per unit of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    pub level: f64,
    pub slope: f64,
    /// Ends of the 95 % interval.
    pub low: f64,
    pub high: f64,
    /// The units of work between the first and last counted sample.
    pub span: f64,
}

impl Looks {
    /// Adds a sample after `done` units of work.
    pub fn add(&mut self, done: f64, size: f64) {
        self.0.push((done, size));
    }

    /// The slope without the warm-up; `None` if there are too few samples.
    pub fn slope(&self) -> Option<Slope> {
        let warm = number(self.0.len()) * WARM_UP;
        let counted = |(index, look): (usize, &(f64, f64))| (number(index) >= warm).then_some(*look);
        let looks: Vec<(f64, f64)> = self.0.iter().enumerate().filter_map(counted).collect();
        if looks.len() < FEWEST {
            return None;
        }
        let mut slopes = Vec::new();
        for (index, (done, size)) in looks.iter().enumerate() {
            let after = looks[index + 1..].iter().filter(|(later, _)| later > done);
            slopes.extend(after.map(|(later, larger)| (larger - size) / (later - done)));
        }
        slopes.sort_by(f64::total_cmp);
        let sizes = looks.iter().map(|(_, size)| *size).collect();
        let half = CONFIDENCE * kendall_deviation(&looks);
        let rank = |at: f64| {
            let at = at.round().clamp(0.0, number(slopes.len().saturating_sub(1)));
            slopes.get(index(at)).copied()
        };
        let pairs = number(slopes.len());
        Some(Slope {
            level: median(sizes)?,
            slope: median(slopes.clone())?,
            low: rank((pairs - half) / 2.0)?,
            high: rank((pairs + half) / 2.0)?,
            span: looks.last()?.0 - looks.first()?.0,
        })
    }
}

impl Slope {
    /// Whether the growth exceeds noise: the whole interval is above zero, and the slope above `negligible`.
    pub fn grows(self, negligible: f64) -> bool {
        self.low > 0.0 && self.slope > negligible
    }
}

/// The standard deviation of Kendall's statistic without a trend, corrected for ties.
fn kendall_deviation(looks: &[(f64, f64)]) -> f64 {
    let term = |count: usize| number(count) * (number(count) - 1.0) * (2.0 * number(count) + 5.0);
    let mut sizes: Vec<f64> = looks.iter().map(|(_, size)| *size).collect();
    sizes.sort_by(f64::total_cmp);
    let ties: f64 = sizes
        .chunk_by(|one, two| one == two)
        .map(|equal| term(equal.len()))
        .sum();
    ((term(looks.len()) - ties) / 18.0).max(0.0).sqrt()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len().max(1) - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// A rank as an index; ranks are far below 2^32.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rounded number that is not negative"
)]
fn index(rank: f64) -> usize {
    rank as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sizes: impl IntoIterator<Item = f64>) -> Option<Slope> {
        let mut looks = Looks::default();
        for (index, size) in sizes.into_iter().enumerate() {
            looks.add(number(index) * 10.0, size);
        }
        looks.slope()
    }

    /// Deterministic noise without a trend.
    fn noise(index: u32) -> f64 {
        f64::from(index * 7919 % 101) - 50.0
    }

    #[test]
    fn growth_is_distinguished_from_noise_steps_and_warm_up() {
        let check = |what: &str, sizes: Vec<f64>, grows: bool| {
            let slope = of(sizes).unwrap();
            assert_eq!(slope.grows(0.01), grows, "{what}: {slope:?}");
        };
        check("nothing happens", vec![5.0; 40], false);
        check("noise", (0..80).map(noise).collect(), false);
        check(
            "growth below noise",
            (0..80).map(|n| f64::from(n) + noise(n)).collect(),
            true,
        );
        check("growth", (0..40).map(f64::from).collect(), true);
        check(
            "slow growth is negligible",
            (0..40).map(|n| f64::from(n) * 0.05).collect(),
            false,
        );
        check(
            "a beginning",
            (0..80).map(|n| f64::from(n.min(20))).collect(),
            false,
        );
        check(
            "odd looks",
            (0..80)
                .map(|n| if n % 9 == 0 { f64::from(n) * 100.0 } else { 1.0 })
                .collect(),
            false,
        );
        check("it shrinks", (0..40).map(|n| -f64::from(n)).collect(), false);
    }

    #[test]
    fn the_slope_is_that_of_the_line() {
        let slope = of((0..40).map(|n| 3.0 + f64::from(n) * 20.0)).unwrap();
        assert!((slope.slope - 2.0).abs() < 1e-9, "{slope:?}");
        assert!(slope.low <= slope.slope && slope.slope <= slope.high);
        assert_eq!(of([1.0; 7]), None, "seven looks say nothing");
    }
}
