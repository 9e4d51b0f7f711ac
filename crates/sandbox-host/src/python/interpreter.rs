//! A Python that guests can run, and the reasons why a candidate is skipped.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The oldest version whose behaviour after a fork is tested.
pub const OLDEST: (u32, u32) = (3, 10);

/// A CPython that guests can run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreter {
    /// The path it was found at, perhaps a shim or a link.
    pub found_at: PathBuf,
    /// The real executable, links resolved.
    pub executable: PathBuf,
    /// Major, minor and micro version.
    pub version: (u32, u32, u32),
    /// The installation's prefix, never that of a virtual environment.
    pub base_prefix: PathBuf,
    /// The same for compiled files; almost always equal to `base_prefix`.
    pub base_exec_prefix: PathBuf,
    /// The standard library's directory.
    pub stdlib: PathBuf,
    /// The directory of the standard library's compiled modules, if it has one.
    pub dynload: Option<PathBuf>,
    /// The name of the library directory below the prefix, `lib` or `lib64`.
    pub platlibdir: String,
    /// The shared library that holds the interpreter, if it is not in the executable.
    pub libpython: Option<PathBuf>,
    /// Name and version of the C library.
    pub libc: String,
    /// Whether every user of the machine may read the executable and the standard library.
    pub world_readable: bool,
    /// The pip that it carries for its virtual environments, which [`crate::python::sync`] needs.
    pub pip: Option<PathBuf>,
}

impl Interpreter {
    /// The name of this Python's managed environment: its minor version and a mark of the executable's path.
    ///
    /// A new micro version at the same path keeps its environment, because compiled packages fit all of them.
    pub fn key(&self) -> String {
        let digest = Sha256::digest(self.executable.as_os_str().as_encoded_bytes());
        let mark: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("{}.{}-{mark}", self.version.0, self.version.1)
    }

    /// The version as `3.11.2`.
    pub fn version_text(&self) -> String {
        format!("{}.{}.{}", self.version.0, self.version.1, self.version.2)
    }

    /// Where packages lie below the root of a virtual environment made by this Python.
    pub(super) fn site_packages_below(&self, root: &Path) -> PathBuf {
        root.join("lib")
            .join(format!("python{}.{}", self.version.0, self.version.1))
            .join("site-packages")
    }
}

/// A candidate that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The path it was found at.
    pub path: PathBuf,
    /// Why it cannot be used, as a sentence's end: "PATH REASON".
    #[serde(serialize_with = "as_text")]
    pub reason: SkipReason,
}

impl std::fmt::Display for Skipped {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.path.display(), self.reason)
    }
}

/// Why a candidate cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// There is nothing at the configured path.
    #[error("does not exist")]
    Missing,
    /// The operating system refused to run it.
    #[error("cannot be started: {cause}")]
    NotStarted {
        /// The operating system's message.
        cause: String,
    },
    /// The probe did not end in time.
    #[error("did not describe itself within {seconds} s")]
    TimedOut {
        /// The time limit.
        seconds: u64,
    },
    /// The output of the probe is not an answer, as with a shim that has no version.
    #[error("did not describe itself: {cause}")]
    NoAnswer {
        /// The end of the output.
        cause: String,
    },
    /// PyPy, GraalPy and others.
    #[error("is {name}, and only CPython can be confined here")]
    NotCPython {
        /// The implementation's own name.
        name: String,
    },
    /// Too old.
    #[error("is Python {version}, and 3.10 or newer is needed")]
    TooOld {
        /// Its version.
        version: String,
    },
    /// A 32-bit build, whose system calls the filter refuses.
    #[error("is a 32-bit build, and the sandbox admits 64-bit system calls only")]
    Not64Bit,
    /// A C library other than glibc.
    #[error("uses the C library {libc}, and forked sessions are proven with glibc only")]
    Libc {
        /// What it says it uses.
        libc: String,
    },
    /// A build without the global interpreter lock.
    #[error("is a free-threaded build, whose zygote could not be single-threaded")]
    FreeThreaded,
    /// The zygote loads its session code through `ctypes`.
    #[error("has no ctypes module, which the sandbox loads its own code with")]
    NoCtypes,
    /// This user cannot read what the guest would run.
    #[error("cannot be used: {} is not readable by this user", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
    },
    /// Sessions of root run under user ids of their own.
    #[error(
        "cannot be used: {} is not readable by other users, and sessions run under user ids of their own (chmod -R o+rX {})",
        path.display(),
        prefix.display()
    )]
    NotWorldReadable {
        /// The file or directory.
        path: PathBuf,
        /// What to open up.
        prefix: PathBuf,
    },
}

fn as_text<S: serde::Serializer>(reason: &SkipReason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(reason)
}
