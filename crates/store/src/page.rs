//! Page size of lists.

/// Maximum rows of a page.
const MAX_ROWS: u32 = 1000;

/// SQL's `LIMIT` of a page.
pub(crate) fn limit(rows: u32) -> i64 {
    i64::from(rows.clamp(1, MAX_ROWS))
}
