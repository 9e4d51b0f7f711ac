//! Files and secrets planted on the host, and checks of them afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Secrets that no guest may find, by name.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// In codeyard's own environment.
    pub variable: String,
    /// In the environment of an upstream server.
    pub upstream: String,
    /// In files.
    pub file: String,
}

/// Files that must not change.
#[derive(Debug)]
pub struct Canaries {
    pub directory: PathBuf,
    pub file: PathBuf,
    pub home: PathBuf,
}

/// The state of the host that a guest could change.
#[derive(Debug, PartialEq, Eq)]
pub struct State {
    canaries: BTreeMap<PathBuf, (u32, u32, i64, i64, Vec<u8>)>,
    temporary: Vec<PathBuf>,
    mounts: Vec<String>,
    name: String,
    core_pattern: String,
}

// === impl Secrets ===

impl Secrets {
    pub fn new() -> Secrets {
        let mint = |name: &str| format!("{name}-{:016x}", RandomState::new().hash_one(name));
        Secrets {
            variable: mint("variable"),
            upstream: mint("upstream"),
            file: mint("file"),
        }
    }

    /// Each byte plus one, the form that `secrets.py` expects.
    pub fn higher(text: &str) -> String {
        text.bytes()
            .map(|byte| char::from(byte.wrapping_add(1)))
            .collect()
    }
}

// === impl Canaries ===

impl Canaries {
    /// Plants files below a directory of the host.
    pub fn plant(root: &Path, secrets: &Secrets) -> Canaries {
        let canaries = Canaries {
            directory: root.join("planted"),
            file: root.join("planted/canary"),
            home: root.join("home/.secret"),
        };
        fs::create_dir(&canaries.directory).unwrap();
        for file in [&canaries.file, &canaries.home] {
            fs::write(file, &secrets.file).unwrap();
        }
        canaries
    }
}

// === impl State ===

impl State {
    /// Reads the host's state. `temporary` is the directory for temporary files of the codeyard under test.
    pub fn look(canaries: &Canaries, temporary: &Path) -> State {
        let planted = [&canaries.directory, &canaries.file, &canaries.home];
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let mut mounts: Vec<String> = read("/proc/self/mounts").lines().map(str::to_owned).collect();
        mounts.sort();
        State {
            canaries: planted.map(|path| (path.clone(), look_at(path))).into(),
            temporary: fs::read_dir(temporary)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect(),
            mounts,
            name: read("/proc/sys/kernel/hostname"),
            core_pattern: read("/proc/sys/kernel/core_pattern"),
        }
    }
}

fn look_at(path: &Path) -> (u32, u32, i64, i64, Vec<u8>) {
    let status = fs::metadata(path).unwrap();
    let content = if status.is_dir() {
        Vec::new()
    } else {
        fs::read(path).unwrap()
    };
    (
        status.mode(),
        status.uid(),
        status.mtime_nsec(),
        status.ctime_nsec(),
        content,
    )
}
