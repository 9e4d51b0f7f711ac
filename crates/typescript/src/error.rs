//! An error in a program's text, with its position and line.

use std::fmt;

use oxc_diagnostics::OxcDiagnostic;

/// Maximum characters of a line in an error.
const MAX_SHOWN: usize = 120;

/// An error in a program's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// One line.
    pub message: String,
    /// From 1; 0 if the place is unknown.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// The line, cut around the column.
    excerpt: String,
    /// Characters of the excerpt before the column.
    indent: usize,
}

impl SyntaxError {
    pub(crate) fn of(diagnostic: &OxcDiagnostic, source: &str) -> Self {
        let message = match &diagnostic.help {
            Some(help) => format!("{} ({})", diagnostic.message, help.replace('\n', " ")),
            None => diagnostic.message.to_string(),
        };
        match diagnostic.labels.first() {
            Some(label) => Self::at(message, label.offset() as usize, source),
            None => Self::nowhere(message),
        }
    }

    pub(crate) fn nowhere(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            line: 0,
            column: 0,
            excerpt: String::new(),
            indent: 0,
        }
    }

    /// `offset` counts bytes of the source.
    pub(crate) fn at(message: String, offset: usize, source: &str) -> Self {
        let offset = source.floor_char_boundary(offset.min(source.len()));
        let before = &source[..offset];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line: Vec<char> = source[start..]
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .collect();
        let column = source[start..offset].chars().count();
        let from = column.saturating_sub(MAX_SHOWN / 2);
        let shown = &line[from.min(line.len())..line.len().min(from + MAX_SHOWN)];
        Self {
            message,
            line: number(before.matches('\n').count() + 1),
            column: number(column + 1),
            excerpt: shown.iter().collect(),
            indent: column - from,
        }
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl std::error::Error for SyntaxError {}

/// The line with a caret below the column, as engines print it, without a file name.
impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            // A caret aligns only if the indent repeats the line's tabs.
            let indent: String = self
                .excerpt
                .chars()
                .take(self.indent)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            writeln!(f, "{}\n{indent}^", self.excerpt)?;
        }
        write!(f, "SyntaxError: {}", self.message)
    }
}
