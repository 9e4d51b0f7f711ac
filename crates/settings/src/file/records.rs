//! `[records]`: content and retention of runs' records.

use std::ops::RangeInclusive;
use std::time::Duration;

use environment::nearest;
use store::{ArgumentDetail, DEFAULT_KEEP_FOR, DEFAULT_KEEP_SIZE, Recording};

use super::table::{Value, unknown};

const MIB: u64 = 1024 * 1024;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// With less, retention would delete records before people read them.
const KEEP_FOR: RangeInclusive<Duration> = Duration::from_secs(60)..=Duration::from_secs(3650 * 24 * 60 * 60);
/// In bytes. With less, the records of a quiet day do not fit.
const KEEP_SIZE: RangeInclusive<u64> = MIB..=1024 * 1024 * MIB;

/// `[records]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Records {
    /// Content of records; `None` if the file does not say.
    pub recording: Option<Recording>,
    /// Retention of records.
    pub keep_for: Duration,
    /// Maximum size of all records in bytes; the oldest are deleted first.
    pub keep_size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordOption {
    Off,
    Shape,
    Full,
    Required,
    Replay,
}

const WORDS: [(&str, RecordOption); 5] = [
    ("shape", RecordOption::Shape),
    ("full", RecordOption::Full),
    ("required", RecordOption::Required),
    ("replay", RecordOption::Replay),
    ("off", RecordOption::Off),
];

impl Default for Records {
    fn default() -> Self {
        Self {
            recording: None,
            keep_for: DEFAULT_KEEP_FOR,
            keep_size: DEFAULT_KEEP_SIZE,
        }
    }
}

pub(super) fn set(records: &mut Records, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "record" => records.recording = Some(recording(value)?),
        "keep_for" => records.keep_for = age(value)?,
        "keep_size" => records.keep_size = value.written().size(KEEP_SIZE)?,
        _ => return Err(unknown("key", key, ["record", "keep_for", "keep_size"])),
    }
    Ok(())
}

/// Parses `record`: one word or an array of words.
fn recording(value: &Value<'_>) -> Result<Recording, String> {
    let written = match value.string() {
        Ok(word) => vec![word.to_owned()],
        Err(_) => value
            .strings()
            .map_err(|_| format!("expected a word or an array of words, found {}", value.kind()))?,
    };
    let words = written
        .iter()
        .map(|word| self::word(word))
        .collect::<Result<Vec<_>, _>>()?;
    if words.is_empty() {
        return Err("the array is empty; write \"off\" to record nothing".to_owned());
    }
    if words.contains(&RecordOption::Off) {
        return match words.as_slice() {
            [RecordOption::Off] => Ok(Recording::Off),
            _ => Err(
                "`\"off\"` cannot be combined with other words; remove the others to record nothing, or remove `\"off\"`"
                    .to_owned(),
            ),
        };
    }
    if words.contains(&RecordOption::Shape) && words.contains(&RecordOption::Full) {
        return Err("\"shape\" and \"full\" exclude each other; write one of them".to_owned());
    }
    Ok(Recording::On {
        arguments: match words.contains(&RecordOption::Full) {
            true => ArgumentDetail::Full,
            false => ArgumentDetail::Shape,
        },
        required: words.contains(&RecordOption::Required),
        replay: words.contains(&RecordOption::Replay),
    })
}

fn word(written: &str) -> Result<RecordOption, String> {
    if let Some((_, word)) = WORDS.iter().find(|(name, _)| *name == written) {
        return Ok(*word);
    }
    let names = WORDS.map(|(name, _)| name);
    let hint = nearest(written, names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(format!(
        "expected \"{}\", found \"{written}\"{hint}",
        names.join("\" or \"")
    ))
}

fn age(value: &Value<'_>) -> Result<Duration, String> {
    let text = value
        .string()
        .map_err(|wrong| format!("{wrong}; write an age with its unit, such as \"30d\""))?;
    let age = types::units::age(text)?;
    if KEEP_FOR.contains(&age) {
        return Ok(age);
    }
    let days = KEEP_FOR.end().as_secs() / DAY.as_secs();
    Err(format!("\"{text}\" is out of range; write \"1m\" to \"{days}d\""))
}
