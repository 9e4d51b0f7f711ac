//! What a line has come to.

/// Bytes of output that one line, and each command of it, may produce.
pub const MAX_OUTPUT: usize = 10 << 20;

/// The exit status of a line whose time was over, like that of `timeout`.
pub const TIME_IS_OVER: u8 = 124;

/// What a line has come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluated {
    /// What the last command printed. Bytes that are not UTF-8 become replacement characters.
    pub output: String,
    /// A message for whoever wrote the line; empty if there is none.
    pub error: String,
    /// 0 for success, 1 for a failure or no match, 2 for what is not understood, 126 for what is not permitted, and
    /// [`TIME_IS_OVER`].
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
