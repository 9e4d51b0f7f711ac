//! Pages of lists.

/// A page of a list that is sorted by a unique name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountPage<'a> {
    /// The last name of the previous page.
    pub after: Option<&'a str>,
    /// Maximum number of rows, 1 to 1000.
    pub limit: u32,
}
