//! Describes a result that stays in its session.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A result that a program of the same session reads with `runtime.result("r3")`. The guest writes these
/// texts: bound them before showing them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// `r` and the number of the run.
    pub name: String,
    /// Name of the Python type; empty if the result was also sent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// In words, such as `2,000 items`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub size: String,
    /// The first items, keys and characters, in the result's own form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Value>,
    /// A dict's first key in Python syntax; `None` if there is none or it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}
