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
    /// TypeScript, and JavaScript as a part of it.
    TypeScript,
    /// Bash.
    Shell,
}

/// A name that is not a language of Codeyard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown language '{0}': use 'python', 'typescript' or 'shell'")]
pub struct UnknownLanguage(String);

impl Language {
    /// Reads the name that clients write.
    ///
    /// # Errors
    /// If no language has this name.
    pub fn from_name(name: &str) -> Result<Language, UnknownLanguage> {
        match name {
            "python" | "py" => Ok(Language::Python),
            "typescript" | "ts" | "javascript" | "js" => Ok(Language::TypeScript),
            "shell" | "bash" | "sh" => Ok(Language::Shell),
            _ => {
                let cut = &name[..name.floor_char_boundary(MAX_SHOWN)];
                let dots = if cut.len() < name.len() { "…" } else { "" };
                Err(UnknownLanguage(format!("{}{dots}", cut.escape_debug())))
            }
        }
    }

    /// The languages, in the order in which they are listed.
    pub const ALL: [Language; 3] = [Language::Python, Language::TypeScript, Language::Shell];

    /// The language of a program file, by the ending of its name; Python for any other.
    pub fn of_file(path: &std::path::Path) -> Language {
        let ending = path.extension().and_then(std::ffi::OsStr::to_str);
        match ending {
            Some("ts" | "mts" | "js" | "mjs") => Language::TypeScript,
            Some("sh" | "bash") => Language::Shell,
            _ => Language::Python,
        }
    }

    /// The name that clients write.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::TypeScript => "typescript",
            Language::Shell => "shell",
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
        let check = |name, expected| assert_eq!(Language::from_name(name), Ok(expected), "{name}");
        check("python", Language::Python);
        check("typescript", Language::TypeScript);
        check("js", Language::TypeScript);
        check("shell", Language::Shell);
        check("bash", Language::Shell);
        for other in ["ruby", "Python", ""] {
            let error = Language::from_name(other).expect_err("unknown").to_string();
            assert_eq!(
                error,
                format!("unknown language '{other}': use 'python', 'typescript' or 'shell'")
            );
        }
    }
}
