//! Whether something that was looked at again and again kept its size: the second half of the looks against the first.

/// Part of the looks that only warm up.
const WARM_UP: f64 = 0.2;

/// Sizes in the order in which they were seen.
#[derive(Debug, Default)]
pub struct Growth(Vec<f64>);

/// What the looks came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halves {
    /// Mean of the first half.
    pub first: f64,
    /// Mean of the second.
    pub second: f64,
}

impl Growth {
    /// Adds a look.
    pub fn look(&mut self, size: f64) {
        self.0.push(size);
    }

    /// Both halves, without those that only warmed up; `None` if there are too few looks.
    pub fn halves(&self) -> Option<Halves> {
        let numbered = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let warm = self.0.iter().enumerate();
        let warm = warm.filter(|(index, _)| numbered(*index) >= numbered(self.0.len()) * WARM_UP);
        let sizes: Vec<f64> = warm.map(|(_, size)| *size).collect();
        if sizes.len() < 4 {
            return None;
        }
        let (first, second) = sizes.split_at(sizes.len() / 2);
        let mean = |sizes: &[f64]| sizes.iter().sum::<f64>() / numbered(sizes.len());
        Some(Halves {
            first: mean(first),
            second: mean(second),
        })
    }
}

impl Halves {
    /// Whether the second half is larger by more than a part of the first and an amount that chance explains.
    pub fn grew(self, part: f64, amount: f64) -> bool {
        self.second > self.first * (1.0 + part) + amount
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves(sizes: &[f64]) -> Option<Halves> {
        let mut growth = Growth::default();
        sizes.iter().for_each(|size| growth.look(*size));
        growth.halves()
    }

    #[test]
    fn growth_is_told_from_a_beginning() {
        let steps = |from: f64, step: f64| (0..20).map(|n| from + step * f64::from(n)).collect::<Vec<_>>();
        let check =
            |sizes: &[f64], grew| assert_eq!(halves(sizes).map(|halves| halves.grew(0.05, 1.0)), Some(grew));
        check(&steps(100.0, 0.0), false);
        check(&steps(100.0, 2.0), true);
        let mut warmed = steps(100.0, 0.0);
        warmed[..3].fill(1.0);
        check(&warmed, false);
        assert_eq!(halves(&[1.0, 2.0]), None, "two looks say nothing");
    }
}
