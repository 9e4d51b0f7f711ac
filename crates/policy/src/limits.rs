//! What a caller may ask for within the operator's limits.

use std::time::Duration;

use serde_json::Value;
use types::Limits;

/// What a caller asked for, as it was given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// `timeout_ms`; absent or null means the operator's wall time.
    pub timeout_ms: Option<Value>,
}

/// A wish that cannot be granted: names the field, the allowed range and the nearest right value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{field} must be a whole number of milliseconds from {lowest} to {highest}, not {given}; use {nearest}"
)]
pub struct LimitError {
    /// The field.
    pub field: &'static str,
    /// What was given.
    pub given: String,
    /// The smallest right value.
    pub lowest: u64,
    /// The largest right value.
    pub highest: u64,
    /// The right value that is nearest to what was given, or the default if nothing is near.
    pub nearest: u64,
}

/// Text of a wrong value that is repeated.
const MAX_SHOWN: usize = 40;

pub(crate) fn decide(limits: &Limits, max_wall_time: Duration, asked: &Asked) -> Result<Limits, LimitError> {
    let mut limits = limits.clone();
    if let Some(value) = asked.timeout_ms.as_ref().filter(|value| !value.is_null()) {
        let highest = milliseconds(max_wall_time);
        let default = milliseconds(limits.wall_time);
        limits.wall_time = Duration::from_millis(timeout(value, highest, default)?);
    }
    Ok(limits)
}

fn timeout(value: &Value, highest: u64, default: u64) -> Result<u64, LimitError> {
    let lowest = 1;
    if let Some(timeout) = whole(value)
        && (lowest..=highest).contains(&timeout)
    {
        return Ok(timeout);
    }
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        _ => value.as_f64(),
    };
    Err(LimitError {
        field: "timeout_ms",
        given: shown(value),
        lowest,
        highest,
        nearest: number.map_or(default, |number: f64| rounded(number, lowest, highest)),
    })
}

/// A non-negative whole number, also one written with a fraction of zero (`5000.0`).
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_number()?;
    number.as_u64().or_else(|| {
        let number = number.as_f64()?;
        let text = format!("{number:.0}");
        (number.fract() == 0.0).then(|| text.parse().ok()).flatten()
    })
}

fn rounded(number: f64, lowest: u64, highest: u64) -> u64 {
    // Numbers below zero do not parse as `u64`, those above its range are above `highest`.
    let text = format!("{number:.0}");
    let above = if number > 0.0 { highest } else { lowest };
    text.parse().unwrap_or(above).clamp(lowest, highest)
}

fn shown(value: &Value) -> String {
    let kind = match value {
        Value::String(_) => "the text ",
        Value::Array(_) => return "a list".to_owned(),
        Value::Object(_) => return "an object".to_owned(),
        _ => "",
    };
    let text = value.to_string();
    let cut = text.floor_char_boundary(MAX_SHOWN);
    let dots = if cut < text.len() { "…" } else { "" };
    format!("{kind}{}{dots}", &text[..cut])
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Config, Policy};

    fn check(value: Value, expected: Result<u64, &str>) {
        let policy = Policy::new(Config::default()).expect("defaults");
        let asked = Asked {
            timeout_ms: Some(value.clone()),
        };
        let decided = policy.limits(&asked).map(|limits| milliseconds(limits.wall_time));
        assert_eq!(
            decided.map_err(|error| error.to_string()),
            expected.map_err(str::to_owned),
            "{value}"
        );
    }

    /// Checks a refusal by what was given and what is proposed.
    fn refused(value: Value, given: &str, nearest: u64) {
        let expected = format!(
            "timeout_ms must be a whole number of milliseconds from 1 to 300000, not {given}; use {nearest}"
        );
        check(value, Err(&expected));
    }

    #[test]
    fn right_values_are_taken() {
        check(json!(null), Ok(60_000));
        check(json!(1), Ok(1));
        check(json!(300_000), Ok(300_000));
        check(json!(5000.0), Ok(5000));
    }

    #[test]
    fn wrong_values_are_refused_with_the_nearest_right_one() {
        refused(json!(0), "0", 1);
        refused(json!(-5), "-5", 1);
        refused(json!(300_001), "300001", 300_000);
        refused(json!(u64::MAX), "18446744073709551615", 300_000);
        refused(json!(1e300), "1e+300", 300_000);
        refused(json!(-1e300), "-1e+300", 1);
        refused(json!(1500.6), "1500.6", 1501);
        refused(json!(0.4), "0.4", 1);
        refused(json!("5000"), "the text \"5000\"", 5000);
        refused(json!("soon"), "the text \"soon\"", 60_000);
        refused(json!("inf"), "the text \"inf\"", 300_000);
        refused(json!(true), "true", 60_000);
        refused(json!([5000]), "a list", 60_000);
        refused(json!({}), "an object", 60_000);
        refused(
            json!("x".repeat(100)),
            &format!("the text \"{}…", "x".repeat(39)),
            60_000,
        );
    }

    #[test]
    fn the_operator_sets_default_and_maximum() {
        let seconds = Duration::from_secs;
        let config = Config {
            limits: Limits {
                wall_time: seconds(5),
                ..Limits::default()
            },
            max_wall_time: seconds(10),
            ..Config::default()
        };
        let policy = Policy::new(config).expect("valid");
        assert_eq!(
            policy.limits(&Asked::default()).expect("default").wall_time,
            seconds(5)
        );
        let asked = |ms: u64| {
            policy.limits(&Asked {
                timeout_ms: Some(json!(ms)),
            })
        };
        assert_eq!(asked(10_000).expect("the maximum").wall_time, seconds(10));
        assert_eq!(asked(10_001).expect_err("beyond").highest, 10_000);
    }
}
