//! Lists the probes' files, so that the crate embeds new ones automatically.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[expect(
    clippy::disallowed_methods,
    reason = "a build script is told by its environment"
)]
fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let root = variable("CARGO_MANIFEST_DIR").join("probes");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut listing = String::from("&[\n");
    for folder in sorted(&root)?.into_iter().filter(|path| path.is_dir()) {
        let mut files = String::new();
        for file in sorted(&folder)? {
            files.push_str(&format!("({:?}, include_str!({file:?})), ", name(&file)));
        }
        listing.push_str(&format!("    ({:?}, &[{files}]),\n", name(&folder)));
    }
    listing.push(']');
    fs::write(variable("OUT_DIR").join("probes.rs"), listing)
}

fn sorted(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries: io::Result<Vec<PathBuf>> = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect();
    let mut entries = entries?;
    entries.sort();
    Ok(entries)
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
