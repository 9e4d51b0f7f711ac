//! Lists the files below `python/codeyard`, to embed them all.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[expect(
    clippy::disallowed_methods,
    reason = "a build script is told by its environment"
)]
fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("python");
    println!("cargo::rerun-if-changed={}", root.join("codeyard").display());
    let mut files = Vec::new();
    collect(&root.join("codeyard"), &mut files)?;
    files.sort();
    let mut listing = String::from("&[\n");
    for file in &files {
        let path = file.strip_prefix(&root).expect("below the root");
        listing.push_str(&format!(
            "    GuestFile {{ path: {:?}, bytes: include_bytes!({:?}) }},\n",
            path.display().to_string(),
            file.display().to_string()
        ));
    }
    listing.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("python_files.rs"), listing)
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "py") {
            files.push(path);
        }
    }
    Ok(())
}
