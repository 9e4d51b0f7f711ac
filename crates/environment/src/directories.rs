//! The configuration directory, the data directory, and resolved paths.

use std::path::{Path, PathBuf};

use crate::machine::Environment;

/// Directory of `mcp.json` and `codeyard.toml`; `None` if neither `XDG_CONFIG_HOME` nor `HOME` is set.
pub fn config_dir(env: &dyn Environment) -> Option<PathBuf> {
    directory(env, "XDG_CONFIG_HOME", ".config")
}

/// Directory of all stored data; `None` if neither `XDG_DATA_HOME` nor `HOME` is set.
pub fn data_dir(env: &dyn Environment) -> Option<PathBuf> {
    directory(env, "XDG_DATA_HOME", ".local/share")
}

/// Whether `XDG_DATA_HOME` sets the data directory.
pub fn is_data_dir_set(env: &dyn Environment) -> bool {
    absolute_path_in(env, "XDG_DATA_HOME").is_some()
}

fn directory(env: &dyn Environment, variable: &str, below_home: &str) -> Option<PathBuf> {
    let base = absolute_path_in(env, variable)
        .or_else(|| absolute_path_in(env, "HOME").map(|home| home.join(below_home)));
    base.map(|base| base.join("codeyard"))
}

/// The absolute path in a variable. The XDG specification ignores relative paths.
fn absolute_path_in(env: &dyn Environment, variable: &str) -> Option<PathBuf> {
    let value = env.var(variable).ok().flatten()?;
    Some(PathBuf::from(value)).filter(|path| path.is_absolute())
}

/// The absolute path, without access to the file system.
pub fn absolute(path: &Path, env: &dyn Environment) -> PathBuf {
    match env.current_dir() {
        Ok(current) => current.join(path).components().collect(),
        Err(_) => path.to_path_buf(),
    }
}

/// Resolves symbolic links in the existing part of the path; the file itself may be missing.
pub fn without_links(path: &Path, env: &dyn Environment) -> PathBuf {
    let resolve = |ancestor: &Path| {
        Some((
            env.canonical(ancestor).ok()?,
            path.strip_prefix(ancestor).ok()?.to_path_buf(),
        ))
    };
    match path.ancestors().find_map(resolve) {
        Some((ancestor, rest)) => ancestor.join(rest).components().collect(),
        None => path.to_path_buf(),
    }
}
