//! `[surface]`: the initial view of the surface `code`, and programs of the surface `server`.

use types::{Language, SandboxPolicy};

use super::sandbox_policy;
use super::table::{Value, unknown};

/// `[surface]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceSettings {
    /// Name the servers in the definition of `search_tools`.
    pub names: bool,
    /// Default language of `shell_exec`.
    pub language: Language,
    /// Limits of programs on the surface `server`; `None` for the operator's limits alone.
    pub sandbox_policy: Option<SandboxPolicy>,
}

impl Default for SurfaceSettings {
    fn default() -> Self {
        Self {
            names: true,
            language: Language::Python,
            sandbox_policy: None,
        }
    }
}

pub(super) fn set(surface: &mut SurfaceSettings, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "names" => surface.names = value.boolean()?,
        "language" => {
            let name = value.string()?;
            surface.language = match Language::from_name(name).map_err(|error| error.to_string())? {
                Language::Shell => {
                    return Err("expected \"python\" or \"typescript\", found \"shell\"".to_owned());
                }
                language => language,
            };
        }
        "sandbox_policy" => surface.sandbox_policy = Some(sandbox_policy::read(value)?),
        _ => return Err(unknown("key", key, ["names", "language", "sandbox_policy"])),
    }
    Ok(())
}
