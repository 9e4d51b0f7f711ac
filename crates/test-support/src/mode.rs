//! Capabilities of this machine and user, which decide what a test may check.

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::codeyard::Codeyard;

/// The jail's mode, as `codeyard doctor` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Control groups limit memory, processes and CPU.
    pub groups: bool,
    /// Each session has its own kernel user.
    pub own_users: bool,
    /// Codeyard runs as root.
    pub is_root: bool,
    /// The disk rate can be limited.
    pub disk_rate: bool,
}

impl Mode {
    /// Runs `codeyard doctor`.
    pub async fn of(codeyard: &Codeyard) -> Result<Mode> {
        let output = codeyard.run(["doctor", "--json"]).await?;
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let name = report["mode"]
            .as_str()
            .with_context(|| format!("no mode: {report}"))?;
        // The doctor names a backend first only if the backend is not the default.
        let name = name.split_once(", ").map_or(name, |(_backend, mode)| mode);
        let is_root = name.starts_with("root ");
        let rows = report["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(Mode {
            groups: name.ends_with("control groups") && !name.contains("without"),
            own_users: is_root || name.contains("subordinate"),
            is_root,
            disk_rate: rows
                .iter()
                .any(|row| row["name"] == "disk rate" && row["state"] == "ok"),
        })
    }
}
