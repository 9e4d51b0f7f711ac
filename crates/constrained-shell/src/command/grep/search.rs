//! The search itself: through files, directories and the input.

use super::expression::Expression;
use super::options::{Directories, Options, Results};
use crate::done::Done;
use crate::failure::{Failure, Stop};
use crate::input::{Extent, Input};
use crate::path::VirtualPath;
use crate::printed::Printed;
use crate::surroundings::Surroundings;
use crate::virtual_files::{EntryKind, FileError};

/// Maximum depth of a search below the operand's directory.
const DEEPEST: usize = 200;

pub(super) struct Search<'a> {
    around: &'a Surroundings<'a>,
    options: &'a Options,
    expression: Expression,
    printed: &'a mut Printed,
    has_match: bool,
    /// Why an operand was not searched.
    skipped: Option<String>,
    /// Which input was searched only in part.
    partial: Option<String>,
}

// === impl Search ===

impl<'a> Search<'a> {
    pub(super) fn new(
        around: &'a Surroundings<'a>,
        options: &'a Options,
        printed: &'a mut Printed,
    ) -> Result<Search<'a>, Failure> {
        let expression = Expression::new(&options.pattern).map_err(|cause| Failure::InvalidRegex {
            command: options.name.as_str(),
            cause,
        })?;
        Ok(Search {
            around,
            options,
            expression,
            printed,
            has_match: false,
            skipped: None,
            partial: None,
        })
    }

    /// The result: status 1 without a match. As in system 0, skipped operands are reported only then.
    pub(super) fn done(self) -> Done {
        let skipped = self.skipped.filter(|_| !self.has_match);
        let messages: Vec<String> = skipped.into_iter().chain(self.partial).collect();
        Done {
            exit: u8::from(!self.has_match),
            error: messages.join("\n"),
            ..Done::default()
        }
    }

    /// Prints matching lines unchanged, even if the options ask for file names.
    pub(super) fn input(&mut self, input: Input<'_>) -> Result<(), Stop> {
        let mut lines = input.lines();
        while let Some(line) = lines.next()? {
            if line.extent == Extent::Start {
                self.partial.get_or_insert_with(|| partial("its input"));
            }
            if self.expression.is_match(self.around, line.text)? {
                self.has_match = true;
                self.printed.push(&[line.text, b"\n"])?;
            }
        }
        Ok(())
    }

    /// Searches an operand.
    pub(super) fn path(&mut self, path: VirtualPath) -> Result<(), Stop> {
        match Input::of_file(self.around, path.clone()) {
            Ok(input) if self.options.includes(&path) => self.file(&path, input),
            Ok(_) => Ok(()),
            Err(FileError::IsDirectory) if self.options.directories == Directories::Searched => {
                self.directory(&path, 0)
            }
            Err(FileError::IsDirectory) => {
                let command = self.options.name.as_str();
                self.skipped
                    .get_or_insert_with(|| format!("{command}: {path} is a directory (search it with -r)"));
                Ok(())
            }
            Err(FileError::Missing) => {
                self.skipped
                    .get_or_insert_with(|| Failure::NotFound(path.to_string()).to_string());
                Ok(())
            }
            Err(error) => Err(error.at(&path).into()),
        }
    }

    /// Skips hidden, special and unreadable entries.
    fn directory(&mut self, path: &VirtualPath, depth: usize) -> Result<(), Stop> {
        self.around.check_time()?;
        let mut entries = match self.around.files.list(path) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(error.at(path).into()),
            Err(_) => return Ok(()),
        };
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            let Some(below) = path.join(&entry.name).filter(|_| !entry.is_hidden()) else {
                continue;
            };
            match entry.kind {
                EntryKind::Directory if depth < DEEPEST => self.directory(&below, depth + 1)?,
                EntryKind::File if self.options.includes(&below) => self.found(&below)?,
                EntryKind::Directory => {
                    self.partial.get_or_insert_with(|| {
                        format!("directories nested deeper than {DEEPEST} were not searched")
                    });
                }
                EntryKind::File | EntryKind::Special => {}
            }
        }
        Ok(())
    }

    fn found(&mut self, path: &VirtualPath) -> Result<(), Stop> {
        let Ok(input) = Input::of_file(self.around, path.clone()) else {
            return Ok(());
        };
        match self.file(path, input) {
            Err(Stop::Failed(_)) => Ok(()),
            other => other,
        }
    }

    fn file(&mut self, path: &VirtualPath, input: Input<'_>) -> Result<(), Stop> {
        self.around.check_time()?;
        let name = path.to_string();
        let mut lines = input.lines();
        while let Some(line) = lines.next()? {
            if line.extent == Extent::Start {
                self.partial.get_or_insert_with(|| partial(&name));
            }
            if !self.expression.is_match(self.around, line.text)? {
                continue;
            }
            self.has_match = true;
            if self.options.results == Results::Names {
                return self.printed.push(&[name.as_bytes(), b"\n"]);
            }
            if line.text.contains(&0) {
                return self
                    .printed
                    .push(&[b"Binary file ", name.as_bytes(), b" matches\n"]);
            }
            self.printed.push(&[name.as_bytes(), b":", line.text, b"\n"])?;
        }
        Ok(())
    }
}

fn partial(what: &str) -> String {
    format!("a line of {what} is longer than 16 MiB: only its start was searched")
}
