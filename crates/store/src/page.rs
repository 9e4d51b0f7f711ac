//! How many rows a page of a list has.

/// Most rows of a page.
const MAX_ROWS: u32 = 1000;

/// SQL's `LIMIT` of a page.
pub(crate) fn limit(asked: u32) -> i64 {
    i64::from(asked.clamp(1, MAX_ROWS))
}
