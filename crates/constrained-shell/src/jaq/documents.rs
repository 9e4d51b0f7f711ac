//! Reads JSON documents, with limits that protect the stack and the time.

use jaq_json::{Val, read};

use crate::jq::JqError;

/// Maximum nesting of arrays and objects in a document.
const DEEPEST: usize = 1_000;

/// Maximum digits of a number: reading takes time quadratic in the digits.
const MOST_DIGITS: usize = 4_000;

/// The documents in order, up to the first that is not JSON.
pub(super) fn read(documents: &[u8]) -> impl Iterator<Item = Result<Val, JqError>> + '_ {
    let refused = check(documents).err();
    let is_refused = refused.is_some();
    let read = read::parse_many(documents).take_while(move |_| !is_refused);
    refused
        .into_iter()
        .map(Err)
        .chain(read.map(|document| document.map_err(|error| error.to_string())))
        .map(|document| document.map_err(JqError::Input))
}

/// Checks only nesting and digits, not whether the text is JSON.
pub(super) fn check(documents: &[u8]) -> Result<(), String> {
    let mut depth = 0_usize;
    let mut digits = 0_usize;
    let mut bytes = documents.iter();
    while let Some(byte) = bytes.next() {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        match byte {
            b'"' => skip_string(&mut bytes),
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Err(format!("it is nested deeper than {DEEPEST} levels"));
        }
        if digits > MOST_DIGITS {
            return Err(format!("a number has more than {MOST_DIGITS} digits"));
        }
    }
    Ok(())
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => _ = bytes.next(),
            _ => {}
        }
    }
}
