//! Times of records in UTC, for people and for programs.

use chrono::{DateTime, SecondsFormat};

pub fn when(ms: i64) -> String {
    time(ms).map_or_else(
        || ms.to_string(),
        |time| time.format("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

pub fn exact(ms: i64) -> String {
    time(ms).map_or_else(
        || ms.to_string(),
        |time| time.to_rfc3339_opts(SecondsFormat::Millis, true),
    )
}

fn time(ms: i64) -> Option<DateTime<chrono::Utc>> {
    DateTime::from_timestamp_millis(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_for_people_and_exact_for_programs() {
        assert_eq!(when(1_769_860_800_000), "2026-01-31 12:00:00");
        assert_eq!(exact(1_769_860_800_001), "2026-01-31T12:00:00.001Z");
        assert_eq!(exact(i64::MAX), i64::MAX.to_string());
    }
}
