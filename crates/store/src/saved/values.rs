//! Functions and values as they are saved and loaded.

use serde_json::Value;
use serde_json::value::RawValue;
use types::{Principal, RunId};

/// The principal and the run that save.
#[derive(Debug, Clone, Copy)]
pub struct SavedBy<'a> {
    /// The owner of the saved value.
    pub principal: &'a Principal,
    /// The saving run, if any.
    pub run: Option<&'a RunId>,
}

/// A value to be saved.
#[derive(Debug, Clone, Copy)]
pub struct NewMemory<'a> {
    /// Key of the memory, compared exactly: different keys are different memories.
    pub key: &'a str,
    /// The value.
    pub value: &'a Value,
    /// A JSON object; `null` counts as an empty object.
    pub metadata: &'a Value,
    /// Expected current version; 0 means that the memory must not exist.
    pub expected: Option<u64>,
    /// First and last save, in milliseconds since 1970, if imported from elsewhere.
    pub times: Option<(i64, i64)>,
}

/// A saved function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedTool {
    /// Name of the function in Python.
    pub name: String,
    /// Source text in Python.
    pub source: String,
    /// SHA-256 of the source, in hexadecimal.
    pub sha256: String,
    /// Last save, in milliseconds since 1970.
    pub saved_ms: i64,
    /// The run of the last save, if any.
    pub run: Option<String>,
}

/// A memory without its value.
#[derive(Debug, Clone)]
pub struct MemoryHead {
    /// Key, unique within the principal.
    pub key: String,
    /// A JSON object.
    pub metadata: Box<RawValue>,
    /// First save, in milliseconds since 1970.
    pub created_ms: i64,
    /// Last save, in milliseconds since 1970.
    pub updated_ms: i64,
    /// Version of the memory; every save changes it.
    pub version: u64,
    /// Length of value and metadata as JSON.
    pub bytes: u64,
    /// The run of the last save, if any.
    pub run: Option<String>,
}

/// A memory with its value.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Everything but the value.
    pub head: MemoryHead,
    /// The value as JSON.
    pub value: Box<RawValue>,
}
