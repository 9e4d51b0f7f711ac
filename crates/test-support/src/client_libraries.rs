//! The client libraries that `cargo xtask test` installs for the examples of docs/clients.md.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::programs::target_directory;

const REMEDY: &str = "run `cargo xtask test` once, which installs them";

/// One package, by its `pip` or `npm` requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientLibrary {
    /// The Python or Node that imports the package.
    Installed(PathBuf),
    /// The package did not install on this machine.
    Missing,
}

/// All requested packages, and the directory with `node_modules`: `CODEYARD_CLIENTS`, else a directory
/// below `target`.
pub fn client_libraries() -> Result<(PathBuf, BTreeMap<String, ClientLibrary>)> {
    let directory = match std::env::var_os("CODEYARD_CLIENTS") {
        Some(path) => path.into(),
        None => target_directory().join("clients"),
    };
    let list = directory.join("clients.json");
    let text = std::fs::read_to_string(&list)
        .with_context(|| format!("no client libraries in {}: {REMEDY}", directory.display()))?;
    let programs: BTreeMap<String, Option<PathBuf>> =
        serde_json::from_str(&text).with_context(|| list.display().to_string())?;
    let libraries = programs
        .into_iter()
        .map(|(package, program)| {
            let library = program.map_or(ClientLibrary::Missing, ClientLibrary::Installed);
            (package, library)
        })
        .collect();
    Ok((directory, libraries))
}
