//! Days, as `2026-01-31`, `2026-01-31T10:00`, `January 31, 2026` or `31 January 2026`.

use super::tokens::token;
use super::{Kind, Literal};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The date that begins at `start`.
pub(super) fn date(text: &str, start: usize) -> Option<Literal> {
    let first = token(text, start)?;
    if is_iso(first.text) {
        return Some(Literal::new(first.span, Kind::Date, first.text));
    }
    let after = |end: usize| {
        let rest = &text[end..];
        let spaces = rest.len() - rest.trim_start_matches([' ', ',']).len();
        if spaces == 0 {
            None
        } else {
            token(text, end + spaces)
        }
    };
    let second = after(first.span.end)?;
    let (month, day) = match month(first.text) {
        Some(month) => (month, day(second.text)?),
        None => (month(second.text)?, day(first.text)?),
    };
    let year = after(second.span.end)?;
    let number: u16 = year
        .text
        .parse()
        .ok()
        .filter(|number| (1000..=9999).contains(number))?;
    let written = format!("{number:04}-{month:02}-{day:02}");
    Some(Literal::new(start..year.span.end, Kind::Date, written))
}

/// `2026-01-31`, perhaps with a time.
fn is_iso(text: &str) -> bool {
    let (day, time) = text.split_once('T').unwrap_or((text, "00:00"));
    let parts: Vec<&str> = day.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let number = |part: &str| part.parse::<u16>().ok();
    lengths == [4, 2, 2]
        && parts.iter().all(|part| number(part).is_some())
        && matches!(number(parts[1]), Some(1..=12))
        && matches!(number(parts[2]), Some(1..=31))
        && time.starts_with(|c: char| c.is_ascii_digit())
}

/// The month of this name, or of its first three letters.
fn month(word: &str) -> Option<usize> {
    let word = word.to_lowercase();
    let is_it = |month: &&str| *month == word || word.len() == 3 && month.starts_with(&word);
    MONTHS.iter().position(is_it).map(|at| at + 1)
}

fn day(word: &str) -> Option<u8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_day = matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th");
    digits.parse().ok().filter(|day| is_day && (1..=31).contains(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_iso() {
        let check = |text: &str, expected: Option<&str>| {
            let found = date(text, 0);
            assert_eq!(found.as_ref().and_then(Literal::text), expected, "{text}");
        };
        check("2026-01-31", Some("2026-01-31"));
        check("2026-01-31T10:00:00Z.", Some("2026-01-31T10:00:00Z"));
        check("January 31, 2026", Some("2026-01-31"));
        check("3rd Feb 2026 and", Some("2026-02-03"));
        check("2026-13-01", None);
        check("May I", None);
        check("5 days 2026", None);
    }
}
