//! Compiles the session library for embedding: always optimised, without libc, as one file.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::{env, io};

#[expect(
    clippy::disallowed_methods,
    reason = "a build script is told by its environment and runs the compiler"
)]
fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).unwrap_or_default();
    let source = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("src");
    let library = PathBuf::from(variable("OUT_DIR")).join("session_library.so");
    println!("cargo::rustc-check-cfg=cfg(codeyard_session_library)");
    println!(
        "cargo::rerun-if-changed={}",
        source.join("session_library.rs").display()
    );
    println!("cargo::rerun-if-changed={}", source.join("session.rs").display());
    println!("cargo::rerun-if-changed={}", source.join("session").display());
    let status = Command::new(variable("RUSTC"))
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "cdylib",
            "--crate-name",
            "session_library",
        ])
        .args([
            "-C",
            "panic=abort",
            "-C",
            "opt-level=2",
            "-C",
            "strip=symbols",
            "-C",
            "overflow-checks=off",
        ])
        .args(["--cfg", "codeyard_session_library"])
        .args(feature(
            &variable("CARGO_FEATURE_REMOVABLE_GUARDS"),
            &["--cfg", "feature=\"removable-guards\""],
        ))
        .args(feature(
            &variable("CARGO_FEATURE_UNCONFINED_GUESTS"),
            &["--cfg", "feature=\"unconfined-guests\""],
        ))
        .args([
            "-C",
            "link-arg=-nostartfiles",
            "-C",
            "link-arg=-nodefaultlibs",
            "-C",
            "link-arg=-Wl,-z,now",
        ])
        .arg("-o")
        .arg(&library)
        .arg(source.join("session_library.rs"))
        .status()?;
    if !status.success() {
        return Err(io::Error::other("the session library does not compile"));
    }
    Ok(())
}

fn feature(variable: &OsStr, arguments: &'static [&'static str]) -> &'static [&'static str] {
    if variable.is_empty() { &[] } else { arguments }
}
