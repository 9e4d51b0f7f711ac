//! Calendar days for the demonstration.

use std::fmt;

use serde::{Serialize, Serializer};

/// Days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(u32);

const DAYS_TO_1970: u32 = 719_468;
const DAYS_OF_400_YEARS: u32 = 146_097;

impl Day {
    /// For dates after 1970.
    pub const fn new(year: u32, month: u32, day: u32) -> Day {
        // Years that start in March have the leap day at the end.
        let year = if month <= 2 { year - 1 } else { year };
        let (era, of_era) = (year / 400, year % 400);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        Day(era * DAYS_OF_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970)
    }

    /// The day `days` later.
    #[must_use]
    pub fn plus(self, days: u32) -> Day {
        Day(self.0 + days)
    }

    /// Days since `earlier`; 0 if that is later.
    pub fn since(self, earlier: Day) -> u32 {
        self.0.saturating_sub(earlier.0)
    }

    fn date(self) -> (u32, u32, u32) {
        let days = self.0 + DAYS_TO_1970;
        let (era, of_era) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
        let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * years + years / 4 - years / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        (era * 400 + years + u32::from(month <= 2), month, day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.date();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_agree() {
        let check = |day: Day, expected: &str| assert_eq!(day.to_string(), expected);
        check(Day::new(1970, 1, 1), "1970-01-01");
        check(Day::new(2024, 2, 28).plus(1), "2024-02-29");
        check(Day::new(2024, 2, 28).plus(2), "2024-03-01");
        check(Day::new(2026, 12, 31).plus(1), "2027-01-01");
        check(Day::new(2000, 2, 29).plus(366), "2001-03-01");
        assert_eq!(Day::new(1970, 1, 1), Day(0));
        assert_eq!(Day::new(2026, 10, 31).since(Day::new(2026, 1, 1)), 303);
    }
}
