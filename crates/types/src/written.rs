//! Reads a value that a person or a model wrote as a duration, a size, a count or a rate within a range.
//!
//! Settings, arguments of commands and arguments of calls are read here, so that the same spelling works
//! everywhere.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use crate::units;

/// One value, whatever its source format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Written<'a> {
    /// Quoted, or an argument that is not a number.
    Text(&'a str),
    /// A non-negative integer.
    Whole(u64),
    /// Any other number.
    Number(f64),
    /// Any other type, by its name: `an array`.
    Other(&'static str),
}

impl<'a> Written<'a> {
    /// From a command's argument: a text that looks like a number is one.
    pub fn argument(text: &'a str) -> Self {
        let number = || text.parse().ok().filter(|number: &f64| number.is_finite());
        match text.parse() {
            Ok(whole) => Written::Whole(whole),
            Err(_) => number().map_or(Written::Text(text), Written::Number),
        }
    }

    /// From JSON: a number with a fraction of zero is an integer.
    pub fn json(value: &'a Value) -> Self {
        match value {
            Value::String(text) => Written::Text(text),
            Value::Number(number) => {
                let float = number.as_f64().unwrap_or(f64::NAN);
                let whole = number.as_u64().or_else(|| format!("{float}").parse().ok());
                whole.map_or(Written::Number(float), Written::Whole)
            }
            Value::Null => Written::Other("null"),
            Value::Bool(_) => Written::Other("a boolean"),
            Value::Array(_) => Written::Other("an array"),
            Value::Object(_) => Written::Other("an object"),
        }
    }

    /// Reads a duration such as `60s`.
    ///
    /// # Errors
    /// What is wrong, and what to write.
    pub fn duration(self, range: RangeInclusive<Duration>) -> Result<Duration, String> {
        let text = self
            .text()
            .map_err(|error| format!("{error}; write a duration with its unit, such as \"60s\""))?;
        let duration = units::duration(text)?;
        let shown = |duration: &Duration| format!("\"{}\"", units::show_duration(*duration));
        within(
            duration,
            &range,
            &format!("\"{text}\""),
            "",
            shown(range.start()),
            shown(range.end()),
        )
    }

    /// Reads a size such as `256 MiB`, in bytes.
    ///
    /// # Errors
    /// As [`Written::duration`].
    pub fn size(self, range: RangeInclusive<u64>) -> Result<u64, String> {
        let text = self
            .text()
            .map_err(|error| format!("{error}; write a size with its unit, such as \"256 MiB\""))?;
        let bytes = units::size(text)?;
        let shown = |bytes: &u64| format!("\"{}\"", units::show_size(*bytes));
        within(
            bytes,
            &range,
            &format!("\"{text}\""),
            "",
            shown(range.start()),
            shown(range.end()),
        )
    }

    /// Reads a whole number.
    ///
    /// # Errors
    /// As [`Written::duration`].
    pub fn count<T: TryFrom<u64>>(self, range: RangeInclusive<u64>) -> Result<T, String> {
        let number = match self {
            Written::Whole(number) => number,
            Written::Number(number) if number.fract() == 0.0 => {
                return Err(format!("expected a whole number, found {number}"));
            }
            other => return Err(other.wrong("a whole number")),
        };
        let (low, high) = (range.start().to_string(), range.end().to_string());
        let number = within(number, &range, &number.to_string(), "", low, high)?;
        T::try_from(number).map_err(|_| format!("{number} is out of range"))
    }

    /// Reads a number of cores.
    ///
    /// # Errors
    /// As [`Written::duration`].
    pub fn rate(self, range: RangeInclusive<f64>) -> Result<f64, String> {
        let rate = match self {
            Written::Whole(number) => number
                .to_string()
                .parse()
                .map_err(|_| format!("{number} is not a number"))?,
            Written::Number(number) => number,
            other => return Err(other.wrong("a number")),
        };
        let (low, high) = (range.start().to_string(), range.end().to_string());
        within(
            rate,
            &range,
            &rate.to_string(),
            "a number of cores from ",
            low,
            high,
        )
    }

    /// Reads a text.
    ///
    /// # Errors
    /// If the value is not a text.
    pub fn text(self) -> Result<&'a str, String> {
        match self {
            Written::Text(text) => Ok(text),
            other => Err(other.wrong("a string")),
        }
    }

    fn wrong(self, expected: &str) -> String {
        let found = match self {
            Written::Text(_) => "a string",
            Written::Number(number) if number.fract() != 0.0 => "a float",
            Written::Whole(_) | Written::Number(_) => "an integer",
            Written::Other(kind) => kind,
        };
        format!("expected {expected}, found {found}")
    }
}

fn within<T: PartialOrd>(
    value: T,
    range: &RangeInclusive<T>,
    written: &str,
    what: &str,
    low: String,
    high: String,
) -> Result<T, String> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(format!("{written} is out of range; write {what}{low} to {high}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_or_refused_with_what_to_write() {
        let size = |written: Written<'_>| written.size(1024..=2048);
        assert_eq!(size(Written::Text("2 KiB")), Ok(2048));
        assert_eq!(
            size(Written::Text("3 KiB")),
            Err("\"3 KiB\" is out of range; write \"1 KiB\" to \"2 KiB\"".to_owned())
        );
        assert_eq!(
            size(Written::Whole(5)),
            Err(
                "expected a string, found an integer; write a size with its unit, such as \"256 MiB\""
                    .to_owned()
            )
        );
        let count = |written: Written<'_>| written.count::<u32>(1..=9);
        assert_eq!(count(Written::argument("7")), Ok(7));
        assert_eq!(
            count(Written::argument("10")),
            Err("10 is out of range; write 1 to 9".to_owned())
        );
        assert_eq!(
            count(Written::argument("-5")),
            Err("expected a whole number, found -5".to_owned())
        );
        assert_eq!(
            count(Written::argument("x")),
            Err("expected a whole number, found a string".to_owned())
        );
        let rate = |written: Written<'_>| written.rate(0.5..=2.0);
        assert_eq!(rate(Written::argument("1.5")), Ok(1.5));
        assert_eq!(rate(Written::Whole(2)), Ok(2.0));
        assert_eq!(count(Written::json(&json!(5.0))), Ok(5));
        assert_eq!(
            count(Written::json(&json!([5]))),
            Err("expected a whole number, found an array".to_owned())
        );
        assert_eq!(
            rate(Written::Number(f64::NAN)),
            Err("NaN is out of range; write a number of cores from 0.5 to 2".to_owned())
        );
        let minute = Duration::from_secs(60);
        assert_eq!(Written::Text("1m").duration(minute..=minute), Ok(minute));
    }
}
