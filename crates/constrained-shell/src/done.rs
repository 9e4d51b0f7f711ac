//! How a command came to its end.

use crate::input::Piped;

#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) exit: u8,
    pub(crate) error: String,
    /// The output, if it is not what the command printed.
    pub(crate) output: Option<Piped>,
}
