//! `[output]`: format and largest size of results.

use std::ops::RangeInclusive;

use types::{Answers, Format};

use super::table::{Value, unknown};

/// In bytes. Less holds hardly a sentence; larger results are never sent.
const MAX_RESULT: RangeInclusive<u64> = 1024..=24 * 1024 * 1024;

/// In bytes. With less, the marker fills most of the output; more exceeds a model's context.
const MAX_PRINTED: RangeInclusive<u64> = 1024..=1024 * 1024;

pub(super) fn set(answers: &mut Answers, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "format" => answers.format = value.one_of(Format::ALL.map(|format| (format.name(), format)))?,
        "max_result" => {
            answers.max_result = match value.string() {
                Ok("off") => None,
                _ => Some(
                    value
                        .written()
                        .size(MAX_RESULT)
                        .map_err(|wrong| format!("{wrong}, or \"off\""))?,
                ),
            };
        }
        "max_printed" => answers.max_printed = value.written().size(MAX_PRINTED)?,
        _ => return Err(unknown("key", key, ["format", "max_printed", "max_result"])),
    }
    Ok(())
}
