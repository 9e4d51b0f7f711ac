//! Why a command ends without a result: system 0's messages and exit statuses.

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The output has reached its limit.
    Full,
    /// The run's time is over.
    TimeIsOver,
    Failed(Failure),
}

/// A mistake in a line, or a refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error("EACCES: command '{0}' is not permitted")]
    Command(String),
    #[error("EACCES: operator '{0}' is not permitted (put it in single quotes to use it as text)")]
    Operator(String),
    #[error("EACCES: '{0}' is not expanded (name each file, or use grep -r with --include)")]
    Expansion(String),
    #[error("EACCES: read denied for path: {0}")]
    ReadDenied(String),
    #[error("EACCES: path traversal denied: {0}")]
    Traversal(String),
    #[error("EACCES: invalid path")]
    InvalidPath,
    #[error("No closing quotation")]
    NoClosingQuotation,
    #[error("No escaped character")]
    NoEscapedCharacter,
    #[error("shell: a command is one line")]
    SeveralLines,
    #[error("shell: missing command beside '|'")]
    MissingCommand,
    #[error("Unsupported {command} option: {option}")]
    Option { command: &'static str, option: String },
    #[error("Path not found: {0}")]
    NotFound(String),
    #[error("cannot read {path}: {cause}")]
    Unreadable { path: String, cause: String },
    #[error("{0}: missing pattern")]
    MissingPattern(&'static str),
    #[error("{command}: pattern too long (max {most} chars)")]
    PatternTooLong { command: &'static str, most: usize },
    #[error("{command}: invalid regex: {cause}")]
    InvalidRegex { command: &'static str, cause: String },
    #[error("{command}: invalid glob: {cause}")]
    InvalidGlob { command: &'static str, cause: String },
    #[error("jq: missing filter")]
    MissingFilter,
    #[error("jq: filter too long (max {0} chars)")]
    FilterTooLong(usize),
}

// === impl Failure ===

impl Failure {
    /// 126 for what is not permitted, 2 for what is not understood, 1 for the rest.
    pub(crate) fn exit(&self) -> u8 {
        match self {
            Failure::Command(_)
            | Failure::Operator(_)
            | Failure::Expansion(_)
            | Failure::ReadDenied(_)
            | Failure::Traversal(_)
            | Failure::InvalidPath => 126,
            Failure::NoClosingQuotation
            | Failure::NoEscapedCharacter
            | Failure::SeveralLines
            | Failure::MissingCommand
            | Failure::Option { .. } => 2,
            Failure::NotFound(_)
            | Failure::Unreadable { .. }
            | Failure::MissingPattern(_)
            | Failure::PatternTooLong { .. }
            | Failure::InvalidRegex { .. }
            | Failure::InvalidGlob { .. }
            | Failure::MissingFilter
            | Failure::FilterTooLong(_) => 1,
        }
    }
}

// === impl Stop ===

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(failure)
    }
}
