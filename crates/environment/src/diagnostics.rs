//! Mistakes and warnings of configuration files, each with file and field; all are reported together.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A mistake in the configuration. Its text is always one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// `None` for a mistake outside of files.
    pub file: Option<PathBuf>,
    /// Place in the file: `mcpServers.github.env.TOKEN`, or `line 3, column 5`; empty for the whole file.
    pub field: String,
    /// The mistake and the remedy.
    pub message: String,
}

impl Mistake {
    /// `file` is `None` for a mistake outside of files.
    pub fn new(file: Option<&Path>, field: &str, message: impl Into<String>) -> Mistake {
        Mistake {
            file: file.map(Path::to_path_buf),
            field: field.to_owned(),
            message: message.into(),
        }
    }
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

/// Escapes control characters, for example `\n`.
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

/// Ignored configuration, which does not prevent a start.
pub type Warning = Mistake;

/// All mistakes, in the order of files and fields.
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

/// Collects the mistakes and warnings of one file.
#[derive(Debug)]
pub struct Diagnostics {
    file: Option<PathBuf>,
    /// Mistakes prevent a start.
    pub mistakes: Vec<Mistake>,
    /// Warnings about ignored configuration.
    pub warnings: Vec<Warning>,
    /// Servers that are not used because of an unset variable.
    pub left_out: Vec<Warning>,
}

impl Diagnostics {
    /// `None` for input outside files.
    pub fn of(file: Option<&Path>) -> Self {
        Self {
            file: file.map(Path::to_path_buf),
            mistakes: Vec::new(),
            warnings: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Adds a mistake in the file.
    pub fn mistake(&mut self, field: &str, message: impl Into<String>) {
        self.mistakes
            .push(Mistake::new(self.file.as_deref(), field, message));
    }

    /// Adds a warning about the file.
    pub fn warning(&mut self, field: &str, message: impl Into<String>) {
        self.warnings
            .push(Mistake::new(self.file.as_deref(), field, message));
    }

    /// Adds a server that is not used because of an unset variable.
    pub fn left_out(&mut self, field: &str, message: impl Into<String>) {
        self.left_out
            .push(Mistake::new(self.file.as_deref(), field, message));
    }

    /// Adds a mistake in another file.
    pub fn mistake_in(&mut self, file: &Path, field: &str, message: impl Into<String>) {
        self.mistakes.push(Mistake::new(Some(file), field, message));
    }

    /// Adds a warning about another file.
    pub fn warning_in(&mut self, file: &Path, field: &str, message: impl Into<String>) {
        self.warnings.push(Mistake::new(Some(file), field, message));
    }

    /// The content of a file that must exist.
    pub fn required(&mut self, file: &Path, read: io::Result<Vec<u8>>) -> Option<Vec<u8>> {
        read.map_err(|error| self.mistake_in(file, "", why_unreadable(&error)))
            .ok()
    }

    /// The content of a file that may be missing; any other error is a mistake.
    pub fn optional(&mut self, file: &Path, read: io::Result<Vec<u8>>) -> Option<Vec<u8>> {
        match read {
            Err(error) if is_absent(&error) => None,
            read => self.required(file, read),
        }
    }

    /// Adds another file's diagnostics.
    pub fn merge(&mut self, other: Diagnostics) {
        self.mistakes.extend(other.mistakes);
        self.warnings.extend(other.warnings);
        self.left_out.extend(other.left_out);
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Why a file cannot be read, with the remedy if there is one.
pub fn why_unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => "this is a directory; name a file in it".to_owned(),
        io::ErrorKind::PermissionDenied => "the file cannot be read: permission denied".to_owned(),
        io::ErrorKind::InvalidData => {
            "the file cannot be read: it holds bytes that are not valid UTF-8".to_owned()
        }
        io::ErrorKind::InvalidInput => error.to_string(),
        _ => format!("the file cannot be read: {error}"),
    }
}

/// The candidate nearest to `word` by edit distance, if close enough for a typing error.
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
