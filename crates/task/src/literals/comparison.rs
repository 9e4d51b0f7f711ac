//! Conditions on fields: `qty < 50 and price > 5`.

use super::tokens::token;
use super::{Kind, Literal, quoted};

/// The longer first.
const SIGNS: &[&str] = &["<=", ">=", "==", "!=", "<", ">"];

/// What conditions are joined by.
const JOINTS: &[&str] = &[" and ", " or ", " AND ", " OR "];

/// The conditions that begin at `start`, as they are written.
pub(super) fn comparison(text: &str, start: usize) -> Option<Literal> {
    let mut end = one(text, start)?;
    loop {
        let joint = JOINTS.iter().find(|joint| text[end..].starts_with(**joint));
        match joint.and_then(|joint| one(text, end + joint.len())) {
            Some(next) => end = next,
            None => return Some(Literal::new(start..end, Kind::Expression, &text[start..end])),
        }
    }
}

/// Where the condition ends that begins here.
fn one(text: &str, start: usize) -> Option<usize> {
    let rest = &text[start..];
    let name = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c)))?;
    let signs = rest[name..].trim_start_matches(' ');
    let sign = SIGNS.iter().find(|sign| signs.starts_with(**sign))?;
    let value = signs[sign.len()..].trim_start_matches(' ');
    let at = text.len() - value.len();
    let end = quoted(text, at).map(|literal| literal.span.end);
    let end = end.or_else(|| token(text, at).map(|token| token.span.end))?;
    (name > 0 && rest.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_taken_as_they_are_written() {
        let check = |text: &str, expected: Option<&str>| {
            let found = comparison(text, 0);
            assert_eq!(found.as_ref().and_then(Literal::text), expected, "{text}");
        };
        check("qty < 50 and price > 5.", Some("qty < 50 and price > 5"));
        check("age>=18 then", Some("age>=18"));
        check("name == \"Ann B\" or x != 2", Some("name == \"Ann B\" or x != 2"));
        check("a < b and go home", Some("a < b"));
        check("a <", None);
        check("5 < 6", None);
        check("plain words", None);
    }
}
