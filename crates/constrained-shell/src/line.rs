//! Reads a line as commands joined by pipes, and refuses everything else that a shell would act on.

mod words;

use crate::command_name::CommandName;
use crate::failure::Failure;
use crate::path::VirtualPath;

use words::Token;

/// A command with its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) name: CommandName,
    pub(crate) arguments: Vec<Word>,
}

/// A word, without its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) form: WordForm,
}

/// Whether a shell might expand a word to file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordForm {
    Plain,
    /// Contains `*`, `?`, `[` or `{` outside of quotes, or begins with `~`. A shell leaves such a word unchanged if
    /// no file matches. So the word may be an expression, a filter or an option's value, but not a path.
    Expandable,
}

/// The commands of a line; none if it is blank. All names are checked before the first command runs.
pub(crate) fn parse(line: &str) -> Result<Vec<Command>, Failure> {
    let mut groups: Vec<Vec<Word>> = vec![Vec::new()];
    for token in words::tokens(line.trim_ascii())? {
        match (token, groups.last_mut()) {
            (Token::Word(word), Some(group)) => group.push(word),
            (Token::Word(_), None) | (Token::Pipe, _) => groups.push(Vec::new()),
        }
    }
    if groups.len() == 1 && groups[0].is_empty() {
        return Ok(Vec::new());
    }
    groups.into_iter().map(command).collect()
}

fn command(words: Vec<Word>) -> Result<Command, Failure> {
    let mut words = words.into_iter();
    let word = words.next().ok_or(Failure::MissingCommand)?.text;
    let Some(name) = CommandName::parse(&word) else {
        return Err(Failure::Command(types::spelled_out(&word)));
    };
    Ok(Command {
        name,
        arguments: words.collect(),
    })
}

// === impl Word ===

impl Word {
    pub(crate) fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-')
    }

    pub(crate) fn path(&self) -> Result<VirtualPath, Failure> {
        match self.form {
            WordForm::Plain => VirtualPath::parse(&self.text),
            WordForm::Expandable => Err(Failure::Expansion(types::spelled_out(&self.text))),
        }
    }
}

#[cfg(test)]
mod tests;
