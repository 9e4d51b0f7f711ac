//! `[learned]`: whether types are learned from tools' results, and whether principals share them.

use super::table::{Value, unknown};

/// `[learned]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Learned {
    /// Learn types for tools that declare none.
    pub enabled: bool,
    /// Show every principal the types learned from all calls.
    pub shared: bool,
}

impl Default for Learned {
    fn default() -> Self {
        Self {
            enabled: true,
            shared: false,
        }
    }
}

pub(super) fn set(learned: &mut Learned, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "enabled" => learned.enabled = value.boolean()?,
        "shared" => learned.shared = value.boolean()?,
        _ => return Err(unknown("key", key, ["enabled", "shared"])),
    }
    Ok(())
}
