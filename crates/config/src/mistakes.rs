//! Mistakes and warnings: always with file and field, always all of them at once.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// One thing that is wrong in a configuration file. As text it is one line, whatever the file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The file, if the mistake is in one.
    pub file: Option<PathBuf>,
    /// Where in the file: `mcpServers.github.env.TOKEN`, or `line 3, column 5`; empty for the whole file.
    pub field: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", one_line(&file.display().to_string()))?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", one_line(&self.field))?;
        }
        f.write_str(&one_line(&self.message))
    }
}

/// The text with its control characters spelled out, as `\n`.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            line.extend(c.escape_debug());
        } else {
            line.push(c);
        }
    }
    line
}

/// Something that codeyard does not use; it starts all the same.
pub type Warning = Mistake;

/// Everything that is wrong, in the order of files and fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            mistake.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// Collects what is found in one file.
#[derive(Debug)]
pub(crate) struct Findings {
    file: Option<PathBuf>,
    pub(crate) mistakes: Vec<Mistake>,
    pub(crate) warnings: Vec<Warning>,
    /// Servers that are left out because a variable that they refer to is not set.
    pub(crate) left_out: Vec<Warning>,
}

impl Findings {
    pub(crate) fn of(file: Option<&Path>) -> Self {
        Self {
            file: file.map(Path::to_path_buf),
            mistakes: Vec::new(),
            warnings: Vec::new(),
            left_out: Vec::new(),
        }
    }

    pub(crate) fn mistake(&mut self, field: &str, message: impl Into<String>) {
        self.mistakes.push(self.finding(field, message.into()));
    }

    pub(crate) fn warning(&mut self, field: &str, message: impl Into<String>) {
        self.warnings.push(self.finding(field, message.into()));
    }

    pub(crate) fn left_out(&mut self, field: &str, message: impl Into<String>) {
        self.left_out.push(self.finding(field, message.into()));
    }

    /// Adds what was found elsewhere.
    pub(crate) fn absorb(&mut self, other: Findings) {
        self.mistakes.extend(other.mistakes);
        self.warnings.extend(other.warnings);
        self.left_out.extend(other.left_out);
    }

    fn finding(&self, field: &str, message: String) -> Mistake {
        Mistake {
            file: self.file.clone(),
            field: field.to_owned(),
            message,
        }
    }
}

/// Why a file cannot be read, in words that say what to do where there is something to do.
pub fn why_unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => "this is a directory; name a file in it".to_owned(),
        io::ErrorKind::PermissionDenied => "the file cannot be read: permission denied".to_owned(),
        io::ErrorKind::InvalidData => {
            "the file cannot be read: it holds bytes that are no UTF-8 text".to_owned()
        }
        io::ErrorKind::InvalidInput => error.to_string(),
        _ => format!("the file cannot be read: {error}"),
    }
}

/// The candidate nearest to `word`, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()),
                candidate,
            )
        })
        .min()
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(word.len()) / 3)
        .map(|(_, candidate)| candidate)
}
