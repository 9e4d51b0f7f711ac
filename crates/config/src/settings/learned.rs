//! `[learned]`: whether the results of tools are observed, and who is told what was learned.

use super::table::Value;
use super::unknown;

/// `[learned]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Learned {
    /// The shapes of results are observed where a tool declares none.
    pub enabled: bool,
    /// Every principal is told what was observed of the calls of any.
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
