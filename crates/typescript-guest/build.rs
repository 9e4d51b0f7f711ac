//! Lists the modules below `js`, to embed them all.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[expect(
    clippy::disallowed_methods,
    reason = "a build script is told by its environment"
)]
fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("js");
    println!("cargo::rerun-if-changed={}", root.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    write_listing(&root, &["platform", "runtime"], &out.join("modules.rs"))?;
    write_listing(&root, &["process", "runtime"], &out.join("process_modules.rs"))
}

/// Writes the names and texts of the modules in these directories.
fn write_listing(root: &Path, directories: &[&str], listing_path: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    for directory in directories {
        collect(&root.join(directory), &mut files)?;
    }
    files.sort();
    let mut listing = String::from("&[\n");
    for file in &files {
        let name = file.file_name().expect("a file").to_string_lossy();
        listing.push_str(&format!(
            "    ({name:?}, include_str!({:?})),\n",
            file.display().to_string()
        ));
    }
    listing.push(']');
    fs::write(listing_path, listing)
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "js") {
            files.push(path);
        }
    }
    Ok(())
}
