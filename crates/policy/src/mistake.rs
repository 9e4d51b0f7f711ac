//! A mistake in a setting.

/// One wrong setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// For example `policy.deny[2]`.
    pub field: String,
    /// The mistake and a valid form.
    pub message: String,
}
