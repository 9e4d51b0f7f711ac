//! `[surface]`: what the surface `code` shows at the start.

use super::table::{Value, unknown};

/// `[surface]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurfaceSettings {
    /// Name the servers in the definition of `search_tools`.
    pub names: bool,
}

impl Default for SurfaceSettings {
    fn default() -> Self {
        Self { names: true }
    }
}

pub(super) fn set(surface: &mut SurfaceSettings, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "names" => surface.names = value.boolean()?,
        _ => return Err(unknown("key", key, ["names"])),
    }
    Ok(())
}
