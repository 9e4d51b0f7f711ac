//! Why the text of a task cannot be read at all.

/// Longest task in bytes: instructions are short, and what is long belongs into a file that the task names.
pub(crate) const MAX_TASK: usize = 4096;

/// What is wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// It has no characters but spaces.
    #[error("the task is empty; say what is to be done, such as \"List the files of the workspace\"")]
    Empty,
    /// It has no word and no number.
    #[error(
        "there is no word in the task {shown:?}; say what is to be done, such as \"List the files of the workspace\""
    )]
    NoWords {
        /// Its beginning.
        shown: String,
    },
    /// It is longer than what is read.
    #[error(
        "the task has {bytes} bytes, of which at most {MAX_TASK} are read; put what is long into a file and name the file"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It has a character that no text has.
    #[error("the task has the control character U+{code:04X} at byte {at}; remove it")]
    Control {
        /// The character.
        code: u32,
        /// Where it stands.
        at: usize,
    },
    /// Reading it was interrupted.
    #[error("reading the task was interrupted; the log says why")]
    Interrupted,
    /// A tool is required that is not there.
    #[error("there is no tool '{tool}' among those that may be called; see `codeyard tools`")]
    NoTool {
        /// As it was asked for.
        tool: String,
    },
}

/// The text as it is read: without spaces around it.
pub(crate) fn readable(text: &str) -> Result<&str, TaskError> {
    if text.len() > MAX_TASK {
        return Err(TaskError::TooLong { bytes: text.len() });
    }
    let control = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if let Some((at, c)) = text.char_indices().find(|(_, c)| control(c)) {
        return Err(TaskError::Control {
            code: u32::from(c),
            at,
        });
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(TaskError::Empty);
    }
    if !text.chars().any(char::is_alphanumeric) {
        let shown = text.chars().take(40).collect();
        return Err(TaskError::NoWords { shown });
    }
    Ok(text)
}
