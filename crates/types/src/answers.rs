//! How results are written for a model, and their largest size.

/// About 8,000 tokens: JSON took 3.2 bytes per token over ten results of real servers
/// (docs/contributing/programs.md).
const MAX_RESULT: u64 = 24 * 1024;
/// 4,000 tokens.
const MAX_PRINTED: u64 = 16 * 1024;

/// The form of a result's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// The shortest form; tables stay tables.
    #[default]
    Text,
    /// Token-Oriented Object Notation.
    Toon,
    /// Standard JSON.
    Json,
}

/// How one server's results are written, unless a call says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answers {
    /// Form of the text.
    pub format: Format,
    /// In bytes of JSON. A larger result stays in its session, and the model receives a handle; `None` for no
    /// limit.
    pub max_result: Option<u64>,
    /// Most printed output that is shown: its weight is its bytes, or four times its tokens if that is more.
    pub max_printed: u64,
}

impl Format {
    /// All forms, in their order.
    pub const ALL: [Format; 3] = [Format::Text, Format::Toon, Format::Json];

    /// The word in settings and arguments.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Toon => "toon",
            Format::Json => "json",
        }
    }

    /// Reads the word in settings and arguments.
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
