//! Functions and values as they are saved and read again.

use serde_json::Value;
use serde_json::value::RawValue;
use types::{Principal, RunId};

/// Who saves.
#[derive(Debug, Clone, Copy)]
pub struct SavedBy<'a> {
    /// Whose it is from then on.
    pub principal: &'a Principal,
    /// The run that saves it, if one does.
    pub run: Option<&'a RunId>,
}

/// A value to be saved.
#[derive(Debug, Clone, Copy)]
pub struct NewMemory<'a> {
    /// Its key, exactly: no two different keys are the same memory.
    pub key: &'a str,
    /// The value.
    pub value: &'a Value,
    /// A JSON object that goes with it; `null` is an empty one.
    pub metadata: &'a Value,
    /// Saved only if the stored version is this one; 0 is "not there".
    pub expected: Option<u64>,
    /// When it was first and last saved, in milliseconds since 1970, if that was not here and now.
    pub times: Option<(i64, i64)>,
}

/// A function that was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedTool {
    /// Its name.
    pub name: String,
    /// Its Python source.
    pub source: String,
    /// SHA-256 of the source, in hexadecimal.
    pub sha256: String,
    /// When it was saved last, in milliseconds since 1970.
    pub saved_ms: i64,
    /// The run that saved it last, if one did.
    pub run: Option<String>,
}

/// A memory without its value.
#[derive(Debug, Clone)]
pub struct MemoryHead {
    /// Its key.
    pub key: String,
    /// The JSON object that goes with it.
    pub metadata: Box<RawValue>,
    /// When it was first saved, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was saved last, in milliseconds since 1970.
    pub updated_ms: i64,
    /// Another number after each save.
    pub version: u64,
    /// Length of value and metadata as JSON.
    pub bytes: u64,
    /// The run that saved it last, if one did.
    pub run: Option<String>,
}

/// A memory.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Everything but the value.
    pub head: MemoryHead,
    /// The value.
    pub value: Box<RawValue>,
}
