//! What this machine and user give: which promises a test may hold codeyard to.

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::codeyard::Codeyard;

/// The jail's mode, as the doctor names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Control groups bind memory, processes and CPU.
    pub groups: bool,
    /// Each session has a kernel user of its own.
    pub own_users: bool,
    /// Codeyard runs as root.
    pub is_root: bool,
    /// A disk rate can be bound.
    pub disk_rate: bool,
}

impl Mode {
    /// Asks the doctor.
    pub async fn of(codeyard: &Codeyard) -> Result<Mode> {
        let output = codeyard.run(["doctor", "--json"]).await?;
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let name = report["mode"]
            .as_str()
            .with_context(|| format!("no mode: {report}"))?;
        // The backend comes first where it is not the default.
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
