//! The five commands that a line may run.

use crate::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandName {
    Ls,
    Cat,
    Grep,
    Rg,
    Jq,
}

// === impl CommandName ===

impl CommandName {
    pub(crate) fn parse(word: &str) -> Option<CommandName> {
        let all = [
            CommandName::Ls,
            CommandName::Cat,
            CommandName::Grep,
            CommandName::Rg,
            CommandName::Jq,
        ];
        all.into_iter().find(|name| name.as_str() == word)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            CommandName::Ls => "ls",
            CommandName::Cat => "cat",
            CommandName::Grep => "grep",
            CommandName::Rg => "rg",
            CommandName::Jq => "jq",
        }
    }

    pub(crate) fn unsupported(self, option: &str) -> Failure {
        Failure::Option {
            command: self.as_str(),
            option: types::spelled_out(option),
        }
    }
}
