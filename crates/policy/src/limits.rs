//! Requests of callers for limits, within the operator's limits.

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use types::{Granted, Limit, Limits, Written};

use crate::values;

/// A caller's request, not yet checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LimitRequest {
    /// Argument `timeout_ms`; absent or null selects the operator's wall time.
    pub timeout_ms: Option<Value>,
    /// Argument `limits`: an object of names and values, as in settings; absent or null selects the
    /// operator's limits.
    pub limits: Option<Value>,
}

/// Why a request is refused: names the field, the given value and the allowed range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// `timeout_ms` is not a number of milliseconds, or out of range.
    #[error(transparent)]
    Timeout(#[from] TimeoutError),
    /// One of `limits` is unknown, not a valid value, or more than the operator allows.
    #[error("{field}: {message}")]
    Limit {
        /// Such as `limits.memory`, or `limits`.
        field: String,
        /// The mistake and a valid form.
        message: String,
    },
}

/// Every refused request; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitErrors(pub Vec<LimitError>);

impl std::error::Error for LimitErrors {}

impl fmt::Display for LimitErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

/// A wrong duration: names the field, the allowed range and the nearest valid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{field} must be a whole number of milliseconds from {lowest} to {highest}, not {given}; use {nearest}"
)]
pub struct TimeoutError {
    /// Such as `timeout_ms`.
    pub field: &'static str,
    /// The given value as text.
    pub given: String,
    /// Minimum in milliseconds.
    pub lowest: u64,
    /// Maximum in milliseconds.
    pub highest: u64,
    /// The nearest valid value in milliseconds, or the default if none is near.
    pub nearest: u64,
}

/// Maximum bytes of a wrong value in a message.
const MAX_SHOWN: usize = 40;

pub(crate) fn decide(
    limits: &Limits,
    max_wall_time: Duration,
    asked: &LimitRequest,
) -> Result<Granted, LimitErrors> {
    let mut granted = Granted {
        limits: limits.clone(),
        named: Vec::new(),
    };
    let mut errors = Vec::new();
    if let Some(value) = asked.timeout_ms.as_ref().filter(|value| !value.is_null()) {
        let highest = milliseconds(max_wall_time);
        let default = milliseconds(limits.wall_time);
        match timeout(value, highest, default) {
            Ok(timeout) => {
                granted.limits.wall_time = Duration::from_millis(timeout);
                granted.named.push(Limit::WallTime);
            }
            Err(error) => errors.push(error.into()),
        }
    }
    let most = Limits {
        wall_time: max_wall_time,
        ..limits.clone()
    };
    match &asked.limits {
        None | Some(Value::Null) => {}
        Some(Value::Object(wishes)) => {
            for (name, value) in wishes {
                let field = || format!("limits.{}", cut(name));
                match grant(&mut granted, name, value, &most) {
                    Ok(()) => {}
                    Err(message) => errors.push(LimitError::Limit {
                        field: field(),
                        message,
                    }),
                }
            }
        }
        Some(other) => errors.push(LimitError::Limit {
            field: "limits".to_owned(),
            message: format!(
                "must be an object such as {{\"memory\": \"256 MiB\"}}, not {}",
                shown(other)
            ),
        }),
    }
    if errors.is_empty() {
        Ok(granted)
    } else {
        Err(LimitErrors(errors))
    }
}

pub(crate) fn within(
    limits: &Limits,
    max_wall_time: Duration,
    asked: Option<Duration>,
) -> Result<Limits, TimeoutError> {
    let mut limits = limits.clone();
    if let Some(asked) = asked {
        let (highest, default) = (milliseconds(max_wall_time), milliseconds(limits.wall_time));
        let timeout = timeout(&Value::from(milliseconds(asked)), highest, default)?;
        limits.wall_time = Duration::from_millis(timeout);
    }
    Ok(limits)
}

fn grant(granted: &mut Granted, name: &str, value: &Value, most: &Limits) -> Result<(), String> {
    let Some(limit) = Limit::from_name(name) else {
        let near = Limit::ALL.map(Limit::name).into_iter().min_by_key(|known| {
            // `cpu` is closer to `cpu_time`, although `disk` is as short.
            let begins = known.starts_with(name) || name.starts_with(known);
            (!begins, strsim::damerau_levenshtein(known, name))
        });
        let near = near.unwrap_or_default();
        return Err(format!("there is no such limit; did you mean `{near}`?"));
    };
    if granted.named.contains(&limit) {
        return Err("is the same as timeout_ms; give one of them".to_owned());
    }
    values::set(&mut granted.limits, limit, Written::json(value), most)?;
    granted.named.push(limit);
    Ok(())
}

fn timeout(value: &Value, highest: u64, default: u64) -> Result<u64, TimeoutError> {
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
    Err(TimeoutError {
        field: "timeout_ms",
        given: shown(value),
        lowest,
        highest,
        nearest: number.map_or(default, |number: f64| rounded(number, lowest, highest)),
    })
}

/// A non-negative whole number, even with a fraction of zero (`5000.0`).
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_number()?;
    number.as_u64().or_else(|| {
        let number = number.as_f64()?;
        let text = format!("{number:.0}");
        (number.fract() == 0.0).then(|| text.parse().ok()).flatten()
    })
}

fn rounded(number: f64, lowest: u64, highest: u64) -> u64 {
    // Numbers below zero do not parse as `u64`; numbers above the range of `u64` exceed `highest`.
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
    format!("{kind}{}", cut(&value.to_string()))
}

fn cut(text: &str) -> String {
    let cut = text.floor_char_boundary(MAX_SHOWN);
    let dots = if cut < text.len() { "…" } else { "" };
    format!("{}{dots}", &text[..cut])
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Policy, PolicyConfig};

    fn check(value: Value, expected: Result<u64, &str>) {
        let policy = Policy::new(PolicyConfig::default()).expect("defaults");
        let asked = LimitRequest {
            timeout_ms: Some(value.clone()),
            ..LimitRequest::default()
        };
        let decided = policy
            .limits(&asked)
            .map(|granted| milliseconds(granted.limits.wall_time));
        assert_eq!(
            decided.map_err(|error| error.to_string()),
            expected.map_err(str::to_owned),
            "{value}"
        );
    }

    /// Checks the given and the proposed value of a refusal.
    fn refused(value: Value, given: &str, nearest: u64) {
        let expected = format!(
            "timeout_ms must be a whole number of milliseconds from 1 to 300000, not {given}; use {nearest}"
        );
        check(value, Err(&expected));
    }

    #[test]
    fn valid_values_are_accepted() {
        check(json!(null), Ok(60_000));
        check(json!(1), Ok(1));
        check(json!(300_000), Ok(300_000));
        check(json!(5000.0), Ok(5000));
    }

    #[test]
    fn wrong_values_are_refused_with_the_nearest_valid_value() {
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
        let config = PolicyConfig {
            limits: Limits {
                wall_time: seconds(5),
                ..Limits::default()
            },
            max_wall_time: seconds(10),
            ..PolicyConfig::default()
        };
        let policy = Policy::new(config).expect("valid");
        let wall_time = |asked: LimitRequest| policy.limits(&asked).map(|granted| granted.limits.wall_time);
        assert_eq!(wall_time(LimitRequest::default()), Ok(seconds(5)));
        let asked = |ms: u64| LimitRequest {
            timeout_ms: Some(json!(ms)),
            ..LimitRequest::default()
        };
        assert_eq!(wall_time(asked(10_000)), Ok(seconds(10)));
        let beyond = wall_time(asked(10_001)).expect_err("beyond").to_string();
        assert!(beyond.contains("from 1 to 10000, not 10001"), "{beyond}");
    }

    fn named(limits: Value) -> Result<Granted, String> {
        let policy = Policy::new(PolicyConfig::default()).expect("defaults");
        let asked = LimitRequest {
            limits: Some(limits),
            ..LimitRequest::default()
        };
        policy.limits(&asked).map_err(|errors| errors.to_string())
    }

    #[test]
    fn limits_are_granted_up_to_those_of_the_operator() {
        let granted =
            named(json!({"memory": "256 MiB", "processes": 8, "wall_time": "300s", "cpu_rate": 0.5}));
        let granted = granted.expect("within");
        let limits = &granted.limits;
        assert_eq!(
            (limits.memory, limits.processes, limits.cpu_rate),
            (256 << 20, 8, 0.5)
        );
        assert_eq!(limits.wall_time, Duration::from_secs(300), "as timeout_ms");
        assert_eq!(limits.disk, Limits::default().disk);
        let mut names: Vec<_> = granted.named.iter().map(|limit| limit.name()).collect();
        names.sort_unstable();
        assert_eq!(names, ["cpu_rate", "memory", "processes", "wall_time"]);
        assert_eq!(named(Value::Null).expect("absent").named, []);
    }

    #[test]
    fn more_than_the_operator_allows_is_refused_with_field_value_and_maximum() {
        let told = |limits| named(limits).expect_err("refused");
        assert_eq!(
            told(json!({"memory": "4 GiB"})),
            "limits.memory: \"4 GiB\" is out of range; write \"64 MiB\" to \"1 GiB\""
        );
        assert_eq!(
            told(json!({"processes": 65, "output": 5, "memroy": 1})),
            "limits.processes: 65 is out of range; write 4 to 64; \
             limits.output: expected a string, found an integer; write a size with its unit, such as \"256 MiB\"; \
             limits.memroy: there is no such limit; did you mean `memory`?"
        );
        assert_eq!(
            told(json!([1])),
            "limits: must be an object such as {\"memory\": \"256 MiB\"}, not a list"
        );
        let nearest = [
            ("cpu", "cpu_time"),
            ("disc", "disk"),
            ("wall_time_ms", "wall_time"),
        ];
        for (name, near) in nearest {
            let message = told(json!({ name: 1 }));
            assert!(message.ends_with(&format!("did you mean `{near}`?")), "{message}");
        }
        assert!(told(json!({"network": "allow-list"})).contains("needs the proxy"));
        let policy = Policy::new(PolicyConfig::default()).expect("defaults");
        let both = policy.limits(&LimitRequest {
            timeout_ms: Some(json!(5000)),
            limits: Some(json!({"wall_time": "6s"})),
        });
        assert_eq!(
            both.expect_err("refused").to_string(),
            "limits.wall_time: is the same as timeout_ms; give one of them"
        );
    }
}
