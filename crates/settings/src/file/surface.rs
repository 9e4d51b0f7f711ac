//! `[surface]`: what the surface `code` shows at the start, and what the surface `server` runs.

use types::{Language, SandboxPolicy};

use super::sandbox_policy;
use super::table::{Value, unknown};

/// `[surface]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceSettings {
    /// Name the servers in the definition of `search_tools`.
    pub names: bool,
    /// Language of programs of `shell_exec` whose call names none.
    pub language: Language,
    /// What programs of the surface `server` may use; `None` for the operator's limits alone.
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
