//! Where files are: the configuration directory and the data directory.

use std::path::{Path, PathBuf};

use crate::host::Host;

/// Directory of `mcp.json` and `codeyard.toml`; `None` if neither variable nor home says where.
pub fn config_dir(host: &dyn Host) -> Option<PathBuf> {
    directory(host, "XDG_CONFIG_HOME", ".config")
}

/// Directory of everything that codeyard keeps; `None` if neither variable nor home says where.
pub fn data_dir(host: &dyn Host) -> Option<PathBuf> {
    directory(host, "XDG_DATA_HOME", ".local/share")
}

fn directory(host: &dyn Host, variable: &str, below_home: &str) -> Option<PathBuf> {
    // A relative path in one of these variables is to be ignored, as their specification asks.
    let absolute = |name: &str| {
        let value = host.var(name).ok().flatten()?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    let base = absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(below_home)));
    base.map(|base| base.join("codeyard"))
}

/// The path from the root, without asking the file system.
pub(crate) fn absolute(path: &Path, host: &dyn Host) -> PathBuf {
    match host.current_dir() {
        Ok(current) => current.join(path).components().collect(),
        Err(_) => path.to_path_buf(),
    }
}
