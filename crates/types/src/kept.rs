//! What the host is told of a result that stays in its session.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A result that a program of the same session gets with `runtime.result("r3")`. A guest's own words: whoever writes it
/// bounds it first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// `r` and the number of its run.
    pub name: String,
    /// Name of its Python type; empty where the result was sent as well.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// How large it is, in words such as `2,000 items`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub size: String,
    /// Its first items, keys and characters, in its own form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Value>,
    /// The first key of a dict as a program writes it; `None` where there is none or it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}
