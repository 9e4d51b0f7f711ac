//! Finds the binaries that tests start, beside the test's own executable, and builds those that are missing or old.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The upstream servers of the tests; also a supervisor (`stub-server __supervise …`).
pub fn stub_server() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        binary("stub-server", "test-support", newest(&sources))
    })
    .clone()
}

/// Codeyard itself: what `CODEYARD_BIN` names, else the one beside the test's executable.
pub fn codeyard_binary() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| match std::env::var_os("CODEYARD_BIN") {
        Some(path) => path.into(),
        // Cargo builds it before the tests of its own package, and `cargo xtask test` before all tests.
        None => binary("codeyard", "codeyard", None),
    })
    .clone()
}

/// The data directory with the managed environment: what `CODEYARD_TEST_ENV` names, else the one below `target`.
pub fn managed_data() -> Option<PathBuf> {
    let path = match std::env::var_os("CODEYARD_TEST_ENV") {
        Some(path) => PathBuf::from(path),
        None => target_directory().join("xtask-data"),
    };
    path.join("python").is_dir().then_some(path)
}

/// Cargo's output.
pub(crate) fn target_directory() -> PathBuf {
    profile_directory()
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}

/// `target/<profile>`, where this test's executable lies in `deps` or `examples`.
fn profile_directory() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    let parents = own.ancestors().skip(1);
    let inner = parents
        .clone()
        .find(|path| path.ends_with("deps") || path.ends_with("examples"));
    match inner.and_then(Path::parent) {
        Some(profile) => profile.to_owned(),
        None => parents.map(Path::to_owned).next().unwrap_or_default(),
    }
}

fn binary(name: &str, package: &str, newest_source: Option<SystemTime>) -> PathBuf {
    let profile = profile_directory();
    let path = profile.join(name);
    let built = path.metadata().and_then(|metadata| metadata.modified()).ok();
    if built.is_none() || built < newest_source {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--package", package, "--bin", name]);
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status();
        assert!(
            built.is_ok_and(|status| status.success()),
            "{name} could not be built"
        );
    }
    path
}

fn newest(directory: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(directory).ok()?.flatten();
    entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            if metadata.is_dir() {
                newest(&entry.path())
            } else {
                metadata.modified().ok()
            }
        })
        .max()
}
