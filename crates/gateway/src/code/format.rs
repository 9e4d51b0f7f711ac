//! How a call asks for its result: in which form, and how large it may be.

use types::{Answers, Format};

use super::arguments::Check;

/// Bytes of JSON that a call may let its result have.
const MAX_RESULT: std::ops::RangeInclusive<u64> = 1_000..=1_000_000;

/// What a call says in `format` and `max_result`, else what its server says.
pub(super) fn asked(check: &mut Check<'_>, usual: Answers) -> Answers {
    let format = check.word("format", Format::ALL.map(Format::name));
    let max_result = check.whole("max_result", MAX_RESULT);
    Answers {
        max_printed: usual.max_printed,
        format: format.and_then(Format::from_name).unwrap_or(usual.format),
        max_result: max_result.or(usual.max_result),
    }
}
