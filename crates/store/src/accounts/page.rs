//! Pages of lists.

/// Most rows of a page.
const MAX_ROWS: u32 = 1000;

/// A part of a list that is sorted by a unique name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountPage<'a> {
    /// The last name of the page before.
    pub after: Option<&'a str>,
    /// Most rows, 1 to 1000.
    pub limit: u32,
}

/// SQL's `LIMIT` of a page.
pub(super) fn limit(asked: u32) -> i64 {
    i64::from(asked.clamp(1, MAX_ROWS))
}
