//! Arithmetic: the longest span of numbers, operators and parentheses, in signs or in words.

use super::numbers;
use super::{Kind, Literal};

/// Operators in words, and as they are written.
const SPOKEN: &[(&str, &str)] = &[
    ("percent of", "/ 100 *"),
    ("plus", "+"),
    ("minus", "-"),
    ("times", "*"),
    ("multiplied by", "*"),
    ("divided by", "/"),
    ("over", "/"),
    ("modulo", "%"),
    ("mod", "%"),
    ("to the power of", "**"),
];

/// Operators in signs, the longer first.
const SIGNS: &[(&str, &str)] = &[
    ("% of ", "/ 100 *"),
    ("**", "**"),
    ("//", "//"),
    ("+", "+"),
    ("-", "-"),
    ("\u{2212}", "-"),
    ("*", "*"),
    ("\u{d7}", "*"),
    ("/", "/"),
    ("\u{f7}", "/"),
    ("%", "%"),
    ("^", "^"),
];

/// What numbers in a list are joined by: "the sum of 5, 7 and 9".
const GATHERING: &[(&str, &str)] = &[
    ("sum of ", " + "),
    ("total of ", " + "),
    ("product of ", " * "),
    ("difference of ", " - "),
    ("difference between ", " - "),
    ("quotient of ", " / "),
    ("average of ", " + "),
    ("mean of ", " + "),
];

/// Functions of one number in words.
const FUNCTIONS: &[(&str, &str)] = &[("square root of ", "sqrt")];

/// Deepest parentheses.
const DEEPEST: usize = 32;

/// The expression that begins at `start`: it has an operator, or is a function of numbers.
pub(super) fn expression(text: &str, start: usize) -> Option<Literal> {
    gathered(text, start)
        .or_else(|| function(text, start))
        .or_else(|| infix(text, start))
}

/// One reading of signs and numbers.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    written: String,
    operators: usize,
    /// Whether anything says that it is arithmetic and no id: a space, another sign than a hyphen, parentheses.
    arithmetic: bool,
}

fn infix(text: &str, start: usize) -> Option<Literal> {
    if !text[start..]
        .starts_with(|c: char| c.is_ascii_digit() || "(-+.".contains(c) || c.is_ascii_alphabetic())
    {
        return None;
    }
    let mut reader = Reader {
        text,
        at: start,
        written: String::new(),
        operators: 0,
        arithmetic: false,
    };
    reader.sum(0)?;
    let follows = text[reader.at..].chars().next();
    let ends = follows.is_none_or(|c| !c.is_alphanumeric() && !"/_@".contains(c) || c == '%');
    let counts = reader.operators > 0 && (reader.arithmetic || reader.operators == 1);
    (counts && ends).then(|| Literal::new(start..reader.at, Kind::Expression, reader.written))
}

impl Reader<'_> {
    /// Operands with operators between them; stops before an operator that nothing follows.
    fn sum(&mut self, depth: usize) -> Option<()> {
        self.operand(depth)?;
        loop {
            let before = (self.at, self.written.len(), self.operators, self.arithmetic);
            if self.operator().and_then(|()| self.operand(depth)).is_none() {
                (self.at, self.operators, self.arithmetic) = (before.0, before.2, before.3);
                self.written.truncate(before.1);
                return Some(());
            }
        }
    }

    fn operand(&mut self, depth: usize) -> Option<()> {
        let rest = &self.text[self.at..];
        if rest.starts_with('(') && depth < DEEPEST {
            return self.parenthesised(1, depth);
        }
        let name = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        if name > 0 && rest[name..].starts_with('(') && depth < DEEPEST {
            self.written.push_str(&rest[..name]);
            self.at += name;
            self.operators += 1;
            return self.parenthesised(1, depth);
        }
        if let Some(sign) = rest.strip_prefix('-').filter(|rest| rest.starts_with('(')) {
            self.written.push('-');
            self.at = self.text.len() - sign.len();
            return self.parenthesised(1, depth);
        }
        let length = numbers::digits(rest)?;
        self.written.push_str(&rest[..length].replace(',', ""));
        self.at += length;
        Some(())
    }

    fn parenthesised(&mut self, opening: usize, depth: usize) -> Option<()> {
        self.written.push('(');
        self.at += opening;
        self.spaces();
        self.sum(depth + 1)?;
        while let Some(rest) = self.text[self.at..].strip_prefix(',') {
            self.written.push_str(", ");
            self.at = self.text.len() - rest.len();
            self.spaces();
            self.sum(depth + 1)?;
        }
        self.spaces();
        let rest = self.text[self.at..].strip_prefix(')')?;
        self.at = self.text.len() - rest.len();
        self.written.push(')');
        self.arithmetic = true;
        Some(())
    }

    fn operator(&mut self) -> Option<()> {
        let start = self.at;
        self.spaces();
        let rest = &self.text[self.at..];
        let spaced = self.at > start;
        let signs = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
        let spoken = SPOKEN.iter().filter(|(word, _)| {
            spaced
                && rest.len() > word.len()
                && rest.is_char_boundary(word.len())
                && rest[..word.len()].eq_ignore_ascii_case(word)
                && rest[word.len()..].starts_with(' ')
        });
        let by = || {
            [("x", "*")]
                .iter()
                .find(|_| spaced && rest.starts_with("x "))
                .copied()
        };
        let (said, sign) = signs.copied().or(spoken.copied().next()).or_else(by)?;
        self.at += said.len();
        let tight = self.at;
        self.spaces();
        // A minus with a space before it only is the sign of another number: "between 5 -3".
        if said == "-" && spaced && self.at == tight {
            return None;
        }
        self.arithmetic |= spaced || said != "-" && said != "/";
        self.operators += 1;
        self.written.push_str(&format!(" {sign} "));
        Some(())
    }

    fn spaces(&mut self) {
        let rest = self.text[self.at..].trim_start_matches(' ');
        self.at = self.text.len() - rest.len();
    }
}

/// "sum of 5, 7 and 9", from the word that says how they are joined.
fn gathered(text: &str, start: usize) -> Option<Literal> {
    let (phrase, sign) = GATHERING.iter().find(|(phrase, _)| begins(text, start, phrase))?;
    let mut at = start + phrase.len();
    let mut numbers: Vec<String> = Vec::new();
    while let Some(length) = numbers::digits(&text[at..]) {
        numbers.push(text[at..at + length].replace(',', ""));
        at += length;
        let joints = [", and ", " and ", ", ", ","];
        let joint = joints.iter().find(|joint| {
            text[at..]
                .strip_prefix(**joint)
                .is_some_and(|rest| numbers::digits(rest).is_some())
        });
        match joint {
            Some(joint) => at += joint.len(),
            None => break,
        }
    }
    let joined = numbers.join(sign);
    let written = match *phrase {
        "average of " | "mean of " => format!("({joined}) / {}", numbers.len()),
        _ => joined,
    };
    (numbers.len() > 1).then(|| Literal::new(start..at, Kind::Expression, written))
}

/// "square root of 16".
fn function(text: &str, start: usize) -> Option<Literal> {
    let (phrase, function) = FUNCTIONS.iter().find(|(phrase, _)| begins(text, start, phrase))?;
    let at = start + phrase.len();
    let length = numbers::digits(&text[at..])?;
    let written = format!("{function}({})", text[at..at + length].replace(',', ""));
    Some(Literal::new(start..at + length, Kind::Expression, written))
}

fn begins(text: &str, start: usize, phrase: &str) -> bool {
    let rest = text[start..].get(..phrase.len());
    rest.is_some_and(|rest| rest.eq_ignore_ascii_case(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_expression_is_taken() {
        let check = |text: &str, expected: Option<&str>| {
            let found = expression(text, 0);
            assert_eq!(found.as_ref().and_then(Literal::text), expected, "{text}");
        };
        check("5 + 3", Some("5 + 3"));
        check("5+3 and then", Some("5 + 3"));
        check("2*(3+4).", Some("2 * (3 + 4)"));
        check("(1 + 2) x 3", Some("(1 + 2) * 3"));
        check("10 divided by 4 please", Some("10 / 4"));
        check("1,000 - 1", Some("1000 - 1"));
        check("15% of 80", Some("15 / 100 * 80"));
        check("sqrt(16) + 1", Some("sqrt(16) + 1"));
        check("sum of 5, 7 and 9", Some("5 + 7 + 9"));
        check("average of 2 and 4", Some("(2 + 4) / 2"));
        check("square root of 16", Some("sqrt(16)"));
        check("5", None);
        check("5 -", None);
        check("555-123-4567", None);
        check("3/4/x", None);
        check("files", None);
        check("2 and 3", None);
        check("(((", None);
    }
}
