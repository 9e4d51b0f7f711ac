//! The options and operands of `grep` and `rg`.

use globset::{Glob, GlobMatcher};

use crate::command_name::CommandName;
use crate::failure::Failure;
use crate::line::Word;
use crate::path::VirtualPath;

/// Maximum characters of an expression (as in system 0), and of a glob.
const MAX_PATTERN: usize = 512;

#[derive(Debug)]
pub(super) struct Options {
    pub(super) name: CommandName,
    pub(super) pattern: String,
    pub(super) paths: Vec<VirtualPath>,
    /// A searched file's name must match one of these globs; empty for every file.
    include: Vec<GlobMatcher>,
    pub(super) directories: Directories,
    pub(super) results: Results,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directories {
    Refused,
    Searched,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    Lines,
    /// Of files with a matching line.
    Names,
}

// === impl Options ===

impl Options {
    /// `rg` searches directories by default, like the program of that name.
    pub(super) fn read(name: CommandName, arguments: Vec<Word>) -> Result<Options, Failure> {
        let mut options = Options {
            name,
            pattern: String::new(),
            paths: Vec::new(),
            include: Vec::new(),
            directories: match name {
                CommandName::Rg => Directories::Searched,
                _ => Directories::Refused,
            },
            results: Results::Lines,
        };
        let operands = options.take(arguments)?;
        let mut operands = operands.iter();
        let pattern = operands.next().ok_or(Failure::MissingPattern(name.as_str()))?;
        options.check_length(&pattern.text)?;
        options.pattern.clone_from(&pattern.text);
        options.paths = operands.map(Word::path).collect::<Result<_, _>>()?;
        Ok(options)
    }

    /// Applies the options, and returns the operands.
    fn take(&mut self, arguments: Vec<Word>) -> Result<Vec<Word>, Failure> {
        let mut operands = Vec::new();
        let mut words = arguments.into_iter();
        while let Some(word) = words.next() {
            if word.text == "--" {
                operands.extend(words.by_ref());
            } else if let Some(glob) = word.text.strip_prefix("--include=") {
                self.include(glob)?;
            } else if word.text == "--include" {
                let glob = words.next().ok_or_else(|| self.name.unsupported(&word.text))?;
                self.include(&glob.text)?;
            } else if word.is_option() {
                self.letters(&word.text)?;
            } else {
                operands.push(word);
            }
        }
        Ok(operands)
    }

    fn letters(&mut self, option: &str) -> Result<(), Failure> {
        for letter in option.chars().skip(1) {
            match letter {
                'r' | 'R' => self.directories = Directories::Searched,
                'l' => self.results = Results::Names,
                _ => return Err(self.name.unsupported(option)),
            }
        }
        Ok(())
    }

    fn include(&mut self, glob: &str) -> Result<(), Failure> {
        self.check_length(glob)?;
        let glob = Glob::new(glob).map_err(|error| Failure::InvalidGlob {
            command: self.name.as_str(),
            cause: error.kind().to_string(),
        })?;
        self.include.push(glob.compile_matcher());
        Ok(())
    }

    fn check_length(&self, pattern: &str) -> Result<(), Failure> {
        if pattern.chars().count() > MAX_PATTERN {
            return Err(Failure::PatternTooLong {
                command: self.name.as_str(),
                most: MAX_PATTERN,
            });
        }
        Ok(())
    }

    pub(super) fn includes(&self, path: &VirtualPath) -> bool {
        self.include.is_empty() || self.include.iter().any(|glob| glob.is_match(path.name()))
    }
}
