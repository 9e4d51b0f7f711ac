//! The commands, each in a module.

mod cat;
mod grep;
mod jq;
mod ls;

use crate::VirtualPath;
use crate::evaluate::{Printed, Surroundings};
use crate::failure::{Failure, Stop};
use crate::line::{Command, Word, WordForm};
use crate::source::Piped;

/// What a line may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Ls,
    Cat,
    Grep,
    Rg,
    Jq,
}

/// How a command came to its end.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) exit: u8,
    pub(crate) error: String,
    /// The output, if it is not what the command printed.
    pub(crate) output: Option<Piped>,
}

pub(crate) fn run(
    around: &Surroundings<'_>,
    command: Command,
    input: Piped,
    printed: &mut Printed,
) -> Result<Done, Stop> {
    let Command { program, arguments } = command;
    match program {
        Program::Ls => ls::run(around, &arguments, printed),
        Program::Cat => cat::run(around, &arguments, input),
        Program::Grep | Program::Rg => grep::run(around, program, arguments, input, printed),
        Program::Jq => jq::run(around, arguments, input, printed),
    }
}

// === impl Program ===

impl Program {
    pub(crate) fn named(name: &str) -> Option<Program> {
        let all = [Program::Ls, Program::Cat, Program::Grep, Program::Rg, Program::Jq];
        all.into_iter().find(|program| program.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Program::Ls => "ls",
            Program::Cat => "cat",
            Program::Grep => "grep",
            Program::Rg => "rg",
            Program::Jq => "jq",
        }
    }

    fn unsupported(self, option: &str) -> Failure {
        Failure::Option {
            command: self.name(),
            option: types::spelled_out(option),
        }
    }
}

// === impl Word ===

impl Word {
    fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-')
    }

    fn path(&self) -> Result<VirtualPath, Failure> {
        match self.form {
            WordForm::Plain => VirtualPath::parse(&self.text),
            WordForm::Expandable => Err(Failure::Expansion(types::spelled_out(&self.text))),
        }
    }
}
