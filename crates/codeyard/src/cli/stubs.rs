//! Arguments of `codeyard tools stubs`, and the languages of declarations.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(super) const STUBS_HELP: &str = "\
Files that declare each tool with its types, for editors and type checkers. They are written below tools/ of the directory;
if a file there was not written by this command, nothing is written.

Examples:
  codeyard tools stubs typings
  codeyard tools stubs typings --server crm
  codeyard tools stubs typings --language typescript";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Python 3.10 or newer
    Python,
    /// TypeScript
    Typescript,
}

#[derive(Debug, Args)]
pub struct StubsArguments {
    /// Directory to write to; created if missing
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The language
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "python")]
    pub language: Language,
    /// Only the tools of this server
    #[arg(long, value_name = "SERVER")]
    pub server: Option<String>,
}

impl From<Language> for catalog::Language {
    fn from(language: Language) -> Self {
        match language {
            Language::Python => Self::Python,
            Language::Typescript => Self::TypeScript,
        }
    }
}
