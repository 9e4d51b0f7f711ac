//! Writes results as system 0 does: strings unquoted, other values as JSON on one line.

use std::io::Write;

use jaq_json::{Num, Val};

use crate::evaluated::MAX_OUTPUT;
use crate::jq::JqError;

/// Maximum nesting of arrays and objects in a result.
const DEEPEST: usize = 2_000;

/// Largest integer written without an exponent, as by `jq`.
const PLAIN: f64 = 1e17;

/// A result as a line; on an error, the line's beginning and the reason.
pub(super) fn line(value: &Val) -> (Vec<u8>, Result<(), JqError>) {
    let mut line = Vec::new();
    let end = match value {
        Val::TStr(text) | Val::BStr(text) => {
            line.extend_from_slice(text);
            Ok(())
        }
        value => write(&mut line, value, 0),
    };
    line.push(b'\n');
    (line, end)
}

fn write(line: &mut Vec<u8>, value: &Val, depth: usize) -> Result<(), JqError> {
    if line.len() > MAX_OUTPUT {
        return Err(JqError::OutputTooLarge);
    }
    if depth > DEEPEST {
        let cause = format!("a result is nested deeper than {DEEPEST} levels");
        return Err(JqError::Limit(cause));
    }
    match value {
        Val::Null => line.extend_from_slice(b"null"),
        Val::Bool(true) => line.extend_from_slice(b"true"),
        Val::Bool(false) => line.extend_from_slice(b"false"),
        Val::Num(number) => line.extend_from_slice(shown(number).as_bytes()),
        Val::TStr(text) | Val::BStr(text) => write_string(line, text),
        Val::Arr(items) => {
            line.push(b'[');
            for (index, item) in items.iter().enumerate() {
                separate(line, index);
                write(line, item, depth + 1)?;
            }
            line.push(b']');
        }
        Val::Obj(entries) => {
            line.push(b'{');
            for (index, (key, item)) in entries.iter().enumerate() {
                separate(line, index);
                write_key(line, key, depth)?;
                line.extend_from_slice(b": ");
                write(line, item, depth + 1)?;
            }
            line.push(b'}');
        }
    }
    Ok(())
}

fn separate(line: &mut Vec<u8>, index: usize) {
    if index > 0 {
        line.extend_from_slice(b", ");
    }
}

/// jaq allows keys of any kind; JSON allows only strings.
fn write_key(line: &mut Vec<u8>, key: &Val, depth: usize) -> Result<(), JqError> {
    if matches!(key, Val::TStr(_) | Val::BStr(_)) {
        return write(line, key, depth + 1);
    }
    let mut text = Vec::new();
    write(&mut text, key, depth + 1)?;
    write_string(line, &text);
    Ok(())
}

fn write_string(line: &mut Vec<u8>, text: &[u8]) {
    line.push(b'"');
    for byte in text {
        match byte {
            b'"' | b'\\' => line.extend_from_slice(&[b'\\', *byte]),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            b'\t' => line.extend_from_slice(b"\\t"),
            0x08 => line.extend_from_slice(b"\\b"),
            0x0c => line.extend_from_slice(b"\\f"),
            // Writing to a vector does not fail.
            0x00..=0x1f => _ = write!(line, "\\u{byte:04x}"),
            _ => line.push(*byte),
        }
    }
    line.push(b'"');
}

/// Writes computed integers, and numbers that JSON lacks, as `jq` does.
fn shown(number: &Num) -> String {
    match number {
        Num::Float(value) if value.is_nan() => "null".to_owned(),
        Num::Float(value) if value.is_infinite() => format!("{:e}", f64::MAX.copysign(*value)),
        Num::Float(value) if value.fract() == 0.0 && value.abs() < PLAIN => format!("{value:.0}"),
        number => number.to_string(),
    }
}
