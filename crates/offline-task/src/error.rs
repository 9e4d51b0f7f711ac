//! Why a task's text cannot be read.

/// Longest task, in bytes: longer content belongs into a file that the task names.
const MAX_TASK: usize = 4096;

/// What is wrong with the text or the request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// Only white space.
    #[error("the task is empty; say what is to be done, such as \"List the files of the workspace\"")]
    Empty,
    /// Neither word nor number; with the beginning of the text.
    #[error(
        "there is no word in the task {0:?}; say what is to be done, such as \"List the files of the workspace\""
    )]
    NoWords(String),
    /// Too long; with the length in bytes.
    #[error(
        "the task has {0} bytes, and codeyard reads at most {MAX_TASK}; put long text into a file and name the file"
    )]
    TooLong(usize),
    /// A control character; with the character and the byte offset.
    #[error("the task has the control character U+{0:04X} at byte {1}; remove it")]
    Control(u32, usize),
    /// Reading was interrupted.
    #[error("reading the task was interrupted; the log says why")]
    Interrupted,
    /// A required tool does not exist.
    #[error("there is no tool '{0}' among those that may be called; see `codeyard tools`")]
    NoTool(String),
}

/// The trimmed text.
pub(crate) fn readable(text: &str) -> Result<&str, TaskError> {
    if text.len() > MAX_TASK {
        return Err(TaskError::TooLong(text.len()));
    }
    let is_control = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if let Some((at, c)) = text.char_indices().find(|(_, c)| is_control(c)) {
        return Err(TaskError::Control(u32::from(c), at));
    }
    match text.trim() {
        "" => Err(TaskError::Empty),
        text if text.contains(char::is_alphanumeric) => Ok(text),
        text => Err(TaskError::NoWords(text.chars().take(40).collect())),
    }
}
