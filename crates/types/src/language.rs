//! The languages that programs are written in.

use std::fmt;

/// Characters of an unknown name that a message shows.
const MAX_SHOWN: usize = 80;

/// The language of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Language {
    /// CPython.
    #[default]
    Python,
}

/// A name that is not a language of Codeyard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown language '{0}': only 'python' is available")]
pub struct UnknownLanguage(String);

impl Language {
    /// Reads the name that clients write.
    ///
    /// # Errors
    /// If no language has this name.
    pub fn from_name(name: &str) -> Result<Language, UnknownLanguage> {
        match name {
            "python" => Ok(Language::Python),
            _ => {
                let cut = &name[..name.floor_char_boundary(MAX_SHOWN)];
                let dots = if cut.len() < name.len() { "…" } else { "" };
                Err(UnknownLanguage(format!("{}{dots}", cut.escape_debug())))
            }
        }
    }

    /// The name that clients write.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages() {
        assert_eq!(Language::from_name("python"), Ok(Language::Python));
        for other in ["ruby", "Python", ""] {
            let error = Language::from_name(other).expect_err("unknown").to_string();
            assert_eq!(
                error,
                format!("unknown language '{other}': only 'python' is available")
            );
        }
    }
}
