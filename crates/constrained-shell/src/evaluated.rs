//! The result of a line.

/// Maximum bytes of output of one line, and of each command.
pub const MAX_OUTPUT: usize = 10 << 20;

/// The exit status of a line that ran out of time, like that of `timeout`.
pub const TIME_IS_OVER: u8 = 124;

/// The result of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluated {
    /// Output of the last command, with replacement characters for invalid UTF-8.
    pub output: String,
    /// A message for the line's author; empty if there is none.
    pub error: String,
    /// 0 for success, 1 for a failure or no match, 2 for a syntax error or an unsupported option, 126 for a refusal,
    /// and [`TIME_IS_OVER`].
    pub exit: u8,
    /// Whether output was dropped because of [`MAX_OUTPUT`].
    pub is_cut: bool,
}

// === impl Evaluated ===

impl Evaluated {
    /// The error as system 0 reports it: a failure without a message names its exit status.
    pub fn reported_error(&self) -> Option<String> {
        match (self.error.as_str(), self.exit) {
            ("", 0) => None,
            ("", status) => Some(format!("Command exited with status {status}")),
            (message, _) => Some(message.to_owned()),
        }
    }
}
