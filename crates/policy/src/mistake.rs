//! One wrong setting.

/// One wrong setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Such as `policy.deny[2]`.
    pub field: String,
    /// What is wrong, and what to write instead.
    pub message: String,
}
