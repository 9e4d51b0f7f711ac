//! A tracked file, and a place in it that breaks a rule.

use std::fmt;

#[derive(Debug, Clone, Copy)]
pub(super) struct File<'a> {
    /// Relative to the checkout.
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

impl File<'_> {
    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(super) fn is_python(&self) -> bool {
        self.path.ends_with(".py")
    }

    pub(super) fn problem(&self, line: usize, message: impl Into<String>) -> Problem {
        Problem {
            path: self.path.to_owned(),
            line: Some(line),
            message: message.into(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) path: String,
    pub(super) line: Option<usize>,
    pub(super) message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}: {}", self.path, self.message),
            None => write!(formatter, "{}: {}", self.path, self.message),
        }
    }
}
