//! The tool lists of 46 real, public servers, as they answered `tools/list`.

use std::path::PathBuf;

/// The folder of `<server>.tools.json` files.
pub fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("catalogue")
}

/// The names of the servers, sorted.
pub fn servers() -> Vec<String> {
    let entries = std::fs::read_dir(directory()).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()?
                .strip_suffix(".tools.json")
                .map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

/// The file of one server.
pub fn file(server: &str) -> PathBuf {
    directory().join(format!("{server}.tools.json"))
}
