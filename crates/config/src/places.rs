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

/// Whether `XDG_DATA_HOME` says where the data directory is.
pub(crate) fn is_data_dir_set(host: &dyn Host) -> bool {
    set(host, "XDG_DATA_HOME").is_some()
}

fn directory(host: &dyn Host, variable: &str, below_home: &str) -> Option<PathBuf> {
    let base = set(host, variable).or_else(|| set(host, "HOME").map(|home| home.join(below_home)));
    base.map(|base| base.join("codeyard"))
}

/// The place that a variable names. A relative path is to be ignored, as the specification of these variables asks.
fn set(host: &dyn Host, variable: &str) -> Option<PathBuf> {
    let value = host.var(variable).ok().flatten()?;
    Some(PathBuf::from(value)).filter(|path| path.is_absolute())
}

/// The path from the root, without asking the file system.
pub(crate) fn absolute(path: &Path, host: &dyn Host) -> PathBuf {
    match host.current_dir() {
        Ok(current) => current.join(path).components().collect(),
        Err(_) => path.to_path_buf(),
    }
}

/// The path without links, as far as it leads to something: a file that is not there yet is named as it will be.
pub(crate) fn resolved(path: &Path, host: &dyn Host) -> PathBuf {
    let there = |place: &Path| {
        Some((
            host.canonical(place).ok()?,
            path.strip_prefix(place).ok()?.to_path_buf(),
        ))
    };
    match path.ancestors().find_map(there) {
        Some((place, rest)) => place.join(rest).components().collect(),
        None => path.to_path_buf(),
    }
}
