//! Paths in the checkout.

use std::path::{Path, PathBuf};

/// The checkout's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}

/// Cargo's output directory.
pub fn target() -> PathBuf {
    // Only a user sets this variable; a relative value starts at the current directory.
    std::env::var_os("CARGO_TARGET_DIR")
        .and_then(|path| std::path::absolute(path).ok())
        .unwrap_or_else(|| root().join("target"))
}

/// The data directory with the managed environment that tests and the demo share.
pub fn data() -> PathBuf {
    target().join("xtask-data")
}

/// The tests' real upstream servers.
pub fn upstreams() -> PathBuf {
    target().join("upstreams")
}

/// The checkers of generated declarations.
pub fn checkers() -> PathBuf {
    target().join("checkers")
}

/// The client libraries of docs/clients.md.
pub fn clients() -> PathBuf {
    target().join("clients")
}

/// The rivals of the benchmarks.
pub fn rivals() -> PathBuf {
    target().join("rivals")
}

/// All files of the QEMU machine.
pub fn machine() -> PathBuf {
    target().join("machine")
}

/// The binary of the dev profile.
pub fn codeyard() -> PathBuf {
    target().join("debug/codeyard")
}

/// The binary of the profile `optimised`.
pub fn optimised_codeyard() -> PathBuf {
    target().join("optimised/codeyard")
}
