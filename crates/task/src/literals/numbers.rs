//! Numbers as people write them: `5`, `-3.5`, `1,000`, `$50`, `10km`, `15%`, `three`.

use serde_json::{Number, Value};

use crate::vocabulary;

/// A number and how much of the word it takes; the rest is its unit.
#[derive(Debug, PartialEq)]
pub(super) struct Written {
    pub(super) value: Value,
    pub(super) length: usize,
}

/// The number that a word is or begins with.
pub(super) fn number(word: &str) -> Option<Written> {
    if let Some(number) = vocabulary::number(&word.to_lowercase()) {
        return Some(Written {
            value: number.into(),
            length: word.len(),
        });
    }
    let unsigned = word.trim_start_matches(['$', '\u{20ac}', '\u{a3}']);
    let digits = digits(unsigned)?;
    let currency = word.len() - unsigned.len();
    let unit = &unsigned[digits..];
    let is_unit = unit
        .chars()
        .all(|c| c.is_alphabetic() || "%$\u{b0}\u{20ac}\u{a3}".contains(c));
    // "a 3-day forecast"
    let joined = unit.strip_prefix('-').filter(|unit| unit.len() > 2);
    let is_joined = joined.is_some_and(|unit| unit.chars().all(|c| c.is_ascii_lowercase()));
    let is_ordinal = matches!(unit, "st" | "nd" | "rd" | "th");
    // One capital after a number is seldom a unit: `3D`.
    let value = parsed(&unsigned[..digits])?;
    let is_unit = is_unit && !is_ordinal && unit.chars().count() <= 5;
    (is_unit || is_joined).then_some(Written {
        value,
        length: currency + digits,
    })
}

/// How many bytes at the beginning are a number with its sign.
pub(super) fn digits(text: &str) -> Option<usize> {
    let sign = usize::from(text.starts_with(['-', '+']));
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = sign;
    while is_digit(end)
        || bytes.get(end) == Some(&b',')
            && end > sign
            && (1..=3).all(|ahead| is_digit(end + ahead))
            && !is_digit(end + 4)
    {
        end += 1;
    }
    if end == sign {
        return None;
    }
    if bytes.get(end) == Some(&b'.') && is_digit(end + 1) {
        end += 1;
        while is_digit(end) {
            end += 1;
        }
    }
    Some(end)
}

/// Its value: whole where it is written so.
pub(super) fn parsed(text: &str) -> Option<Value> {
    let plain = text.replace(',', "");
    let plain = plain.strip_prefix('+').unwrap_or(&plain);
    if let Ok(whole) = plain.parse::<i64>() {
        return Some(whole.into());
    }
    Number::from_f64(plain.parse().ok()?).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let check = |word: &str, expected: Option<(Value, usize)>| {
            let found = number(word).map(|number| (number.value, number.length));
            assert_eq!(found, expected, "{word}");
        };
        check("5", Some((json!(5), 1)));
        check("-3.5", Some((json!(-3.5), 4)));
        check("1,000", Some((json!(1000), 5)));
        check("$50", Some((json!(50), 3)));
        check("10km", Some((json!(10), 2)));
        check("50\u{20ac}", Some((json!(50), 2)));
        check("15%", Some((json!(15), 2)));
        check("Three", Some((json!(3), 5)));
        check("3-day", Some((json!(3), 1)));
        check("17-AB", None);
        check("3rd", None);
        check("1.2.3", None);
        check("v2", None);
        check("-", None);
        check("99999999999999999999", Some((json!(1e20), 20)));
    }
}
