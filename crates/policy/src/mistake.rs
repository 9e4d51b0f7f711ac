//! One wrong setting.

/// One wrong setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The setting, as in `policy.deny[2]`.
    pub field: String,
    /// What is wrong with it and what to write instead.
    pub message: String,
}
