//! Finds the binaries that tests start, next to the test's executable; builds missing or outdated ones.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The tests' upstream servers; also a supervisor (`stub-server __supervise …`).
pub fn stub_server() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        binary("stub-server", "test-support", newest(&sources))
    })
    .clone()
}

/// Codeyard's binary: `CODEYARD_BIN`, else the one next to the test's executable.
pub fn codeyard_binary() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| match std::env::var_os("CODEYARD_BIN") {
        Some(path) => path.into(),
        // Cargo builds codeyard before its own package's tests; `cargo xtask test` builds it before
        // all tests.
        None => binary("codeyard", "codeyard", None),
    })
    .clone()
}

/// The data directory with the managed environment: `CODEYARD_TEST_ENV`, else one below `target`.
pub fn managed_data() -> Option<PathBuf> {
    let path = match std::env::var_os("CODEYARD_TEST_ENV") {
        Some(path) => PathBuf::from(path),
        None => target_directory().join("xtask-data"),
    };
    path.join("python").is_dir().then_some(path)
}

pub(crate) fn target_directory() -> PathBuf {
    profile_directory()
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}

/// `target/<profile>`; this test's executable is in its `deps` or `examples`.
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
