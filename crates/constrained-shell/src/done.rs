//! The result of one command.

use crate::input::Piped;

#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) exit: u8,
    pub(crate) error: String,
    /// Replaces the printed output, if set.
    pub(crate) output: Option<Piped>,
}
