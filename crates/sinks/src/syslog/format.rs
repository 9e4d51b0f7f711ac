//! One entry as a message: in RFC 5424 format, or in the format of the local daemon's socket.
//!
//! Fields become structured data, the summary becomes the text.

use std::borrow::Cow;

use chrono::{DateTime, SecondsFormat};

use crate::config::RecordKind;
use crate::fields::{Field, Severity, SinkEntry};

/// `local0`, reserved for local use.
const FACILITY: u8 = 16;

/// 32473 is IANA's enterprise number for examples.
const SD_ID: &str = "codeyard@32473";

/// Limits on values, in bytes. The first limit with which the message fits applies.
const LIMITS: [usize; 6] = [16 * 1024, 1024, 256, 128, 64, 32];

/// Longest summary, in bytes.
const MAX_SUMMARY: usize = 128;

/// Added to a message with truncated values.
const CUT: &str = " codeyard.cut=\"true\"";

/// How a message begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form<'a> {
    /// The header of RFC 5424, with the name of this machine.
    Rfc5424 { host: &'a str },
    /// The format of `/dev/log`: rsyslog and journald do not read RFC 5424 there, and add time and host.
    Local,
}

/// A message of at most `most` bytes. Truncates long values, and marks truncation with a parameter.
pub(super) fn message(entry: &SinkEntry, form: Form<'_>, most: usize) -> Vec<u8> {
    let mut text = written(entry, form, usize::MAX);
    for limit in LIMITS {
        if text.len() <= most {
            break;
        }
        text = written(entry, form, limit);
    }
    text.into_bytes()
}

fn written(entry: &SinkEntry, form: Form<'_>, limit: usize) -> String {
    let priority = FACILITY * 8 + severity(entry.severity);
    let time = DateTime::from_timestamp_millis(entry.at_ms).unwrap_or_default();
    let time = time.to_rfc3339_opts(SecondsFormat::Millis, true);
    let (process, id) = (std::process::id(), message_id(entry.kind));
    let mut text = match form {
        Form::Rfc5424 { host } => {
            let host = header(host);
            format!("<{priority}>1 {time} {host} codeyard {process} {id} [{SD_ID}")
        }
        Form::Local => format!("<{priority}>codeyard[{process}]: {id} [{SD_ID} codeyard.time=\"{time}\""),
    };
    let mut is_cut = false;
    for (name, field) in &entry.fields {
        let value = match field {
            Field::Text(text) => Cow::Borrowed(text.as_str()),
            Field::Number(number) => Cow::Owned(number.to_string()),
        };
        let (value, fits) = escaped(&value, limit);
        is_cut |= !fits;
        text.push_str(&format!(" {name}=\"{value}\""));
    }
    if is_cut {
        text.push_str(CUT);
    }
    text.push_str("] ");
    text.extend(entry.summary.chars().take(MAX_SUMMARY).map(printable));
    text
}

fn severity(severity: Severity) -> u8 {
    match severity {
        Severity::Error => 3,
        Severity::Warning => 4,
        Severity::Notice => 5,
        Severity::Info => 6,
    }
}

fn message_id(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Runs => "run",
        RecordKind::Calls => "call",
        RecordKind::Events => "event",
        RecordKind::Audit => "audit",
    }
}

/// A field of the header: printable ASCII without spaces, or `-`.
fn header(text: &str) -> String {
    let text: String = text.chars().filter(char::is_ascii_graphic).take(255).collect();
    match text.is_empty() {
        true => "-".to_owned(),
        false => text,
    }
}

/// Replaces characters other than printable ASCII, which only a manipulated database holds.
fn printable(character: char) -> char {
    match character {
        ' '..='~' => character,
        _ => '?',
    }
}

/// An escaped value of at most `limit` bytes, and whether it is complete. Replaces control characters, which would
/// break receivers' lines.
fn escaped(value: &str, limit: usize) -> (String, bool) {
    let mut text = String::new();
    for character in value.chars() {
        let begin = text.len();
        match character {
            '"' | '\\' | ']' => text.extend(['\\', character]),
            control if control.is_control() => text.push('\u{fffd}'),
            other => text.push(other),
        }
        if text.len() > limit {
            text.truncate(begin);
            return (text, false);
        }
    }
    (text, true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a message as RFC 5424 defines it: priority, the other words of the header, parameters, text.
    fn read(message: &str) -> (u8, Vec<&str>, Vec<(String, String)>, &str) {
        let (priority, rest) = message
            .strip_prefix('<')
            .and_then(|rest| rest.split_once('>'))
            .expect("a priority");
        let (header, rest) = rest.split_once(" [").expect("structured data");
        let mut rest = rest.strip_prefix(SD_ID).expect("our id");
        let mut parameters = Vec::new();
        while let Some(after) = rest.strip_prefix(' ') {
            let (name, after) = after.split_once("=\"").expect("a parameter");
            let mut value = String::new();
            let mut characters = after.char_indices();
            let end = loop {
                match characters.next().expect("the end of a value") {
                    (_, '\\') => value.push(characters.next().expect("an escaped character").1),
                    (at, '"') => break at,
                    (_, character) => {
                        assert!(character != ']' && !character.is_control(), "{message}");
                        value.push(character);
                    }
                }
            };
            parameters.push((name.to_owned(), value));
            rest = &after[end + 1..];
        }
        let text = rest.strip_prefix("] ").expect("a text");
        (
            priority.parse().expect("a number"),
            header.split(' ').collect(),
            parameters,
            text,
        )
    }

    fn entry(values: &[String]) -> SinkEntry {
        let names = [
            "codeyard.record.id",
            "enduser.id",
            "codeyard.server.id",
            "codeyard.run.id",
        ];
        let text = |(name, value): (&&'static str, &String)| (*name, Field::Text(value.clone()));
        SinkEntry {
            kind: RecordKind::Runs,
            at_ms: 1_795_651_200_007,
            severity: Severity::Warning,
            summary: "run refused".to_owned(),
            fields: names.iter().zip(values).map(text).collect(),
        }
    }

    #[test]
    fn a_message_has_the_documented_form() {
        let values = ["r-1".to_owned(), "a\"]\\b\nc".to_owned()];
        let host = "one.example.com";
        let text = message(&entry(&values), Form::Rfc5424 { host }, 2048);
        let text = String::from_utf8(text).expect("UTF-8");
        let process = std::process::id();
        assert_eq!(
            text,
            format!(
                "<132>1 2026-11-26T00:00:00.007Z one.example.com codeyard {process} run [codeyard@32473 \
                 codeyard.record.id=\"r-1\" enduser.id=\"a\\\"\\]\\\\b\u{fffd}c\"] run refused"
            )
        );
        let unknown = message(&entry(&[]), Form::Rfc5424 { host: " \n" }, 2048);
        assert!(unknown.starts_with(b"<132>1 2026-11-26T00:00:00.007Z - codeyard "));
        let local = String::from_utf8(message(&entry(&values[..1]), Form::Local, 2048)).expect("UTF-8");
        assert_eq!(
            local,
            format!(
                "<132>codeyard[{process}]: run [codeyard@32473 codeyard.time=\"2026-11-26T00:00:00.007Z\" \
                 codeyard.record.id=\"r-1\"] run refused"
            )
        );
    }

    proptest! {
        #[test]
        fn every_message_fits_and_is_read_back(values in proptest::collection::vec("[\\PC\\x00-\\x1f\"\\\\\\]]{0,1500}", 4)) {
            let bytes = message(&entry(&values), Form::Rfc5424 { host: "host" }, 2048);
            prop_assert!(bytes.len() <= 2048);
            let text = String::from_utf8(bytes).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let (priority, header, parameters, summary) = read(&text);
            prop_assert_eq!((priority, header.len(), summary), (132, 6, "run refused"));
            let is_cut = parameters.last().is_some_and(|(name, _)| name == "codeyard.cut");
            prop_assert_eq!(parameters.len(), 4 + usize::from(is_cut));
            for ((_, shown), value) in parameters.iter().zip(&values) {
                let value: String = value
                    .chars()
                    .map(|character| if character.is_control() { '\u{fffd}' } else { character })
                    .collect();
                prop_assert!(value.starts_with(shown.as_str()) && (is_cut || *shown == value));
            }
        }
    }
}
