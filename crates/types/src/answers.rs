//! How results are written for a model, and how large they may be.

/// About 8,000 tokens: JSON took 3.2 bytes a token over ten results of real servers (docs/contributing/programs.md).
const MAX_RESULT: u64 = 24 * 1024;
/// 4,000 tokens.
const MAX_PRINTED: u64 = 16 * 1024;

/// The form of a result's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// As short as can be, tables as tables.
    #[default]
    Text,
    /// Token-Oriented Object Notation.
    Toon,
    /// JSON.
    Json,
}

/// Results of one server, where a call does not say otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answers {
    /// The form of their text.
    pub format: Format,
    /// A result of more bytes of JSON stays in its session, and the model gets a handle; `None` where none does.
    pub max_result: Option<u64>,
    /// Bytes that are shown of what a program printed, or four times its tokens if those are more.
    pub max_printed: u64,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 3] = [Format::Text, Format::Toon, Format::Json];

    /// The word of settings and arguments.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Toon => "toon",
            Format::Json => "json",
        }
    }

    /// The form that a word names.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            format: Format::default(),
            max_result: Some(MAX_RESULT),
            max_printed: MAX_PRINTED,
        }
    }
}
