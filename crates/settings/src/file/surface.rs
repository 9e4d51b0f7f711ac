//! `[surface]`: what the surface `code` shows at the start, and the usual language of the surface `server`.

use types::Language;

use super::table::{Value, unknown};

/// `[surface]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurfaceSettings {
    /// Name the servers in the definition of `search_tools`.
    pub names: bool,
    /// Language of programs of `shell_exec` whose call names none.
    pub language: Language,
}

impl Default for SurfaceSettings {
    fn default() -> Self {
        Self {
            names: true,
            language: Language::Python,
        }
    }
}

pub(super) fn set(surface: &mut SurfaceSettings, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "names" => surface.names = value.boolean()?,
        "language" => {
            let name = value.string()?;
            surface.language = Language::from_name(name).map_err(|error| error.to_string())?;
        }
        _ => return Err(unknown("key", key, ["names", "language"])),
    }
    Ok(())
}
