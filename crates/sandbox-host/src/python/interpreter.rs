//! A Python that guests can run, and the reasons for skipping a candidate.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The oldest Python version whose behaviour after a fork was tested.
pub const OLDEST: (u32, u32) = (3, 10);

/// A CPython that guests can run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreter {
    /// The candidate's path, perhaps a shim or a link.
    pub found_at: PathBuf,
    /// The real executable, links resolved.
    pub executable: PathBuf,
    /// Major, minor and micro version.
    pub version: (u32, u32, u32),
    /// The installation's prefix, never a virtual environment's.
    pub base_prefix: PathBuf,
    /// The prefix for compiled files; almost always equal to `base_prefix`.
    pub base_exec_prefix: PathBuf,
    /// Directory of the standard library.
    pub stdlib: PathBuf,
    /// Directory of the standard library's compiled modules, if any.
    pub dynload: Option<PathBuf>,
    /// Name of the library directory below the prefix, `lib` or `lib64`.
    pub platlibdir: String,
    /// The interpreter's shared library, if the interpreter is not in the executable.
    pub libpython: Option<PathBuf>,
    /// Name and version of the C library.
    pub libc: String,
    /// Whether every user of the machine may read the executable and the standard library.
    pub world_readable: bool,
    /// The pip bundled for virtual environments, which [`crate::python::sync`] needs.
    pub pip: Option<PathBuf>,
}

impl Interpreter {
    /// The name of this Python's managed environment: its minor version and a hash of the executable's path.
    ///
    /// A new micro version at the same path keeps its environment, because compiled packages fit all micro versions.
    pub fn key(&self) -> String {
        let digest = Sha256::digest(self.executable.as_os_str().as_encoded_bytes());
        let mark: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("{}.{}-{mark}", self.version.0, self.version.1)
    }

    /// The version as `3.11.2`.
    pub fn version_text(&self) -> String {
        format!("{}.{}.{}", self.version.0, self.version.1, self.version.2)
    }

    /// Directory of packages below the root of a virtual environment made by this Python.
    pub(super) fn site_packages_below(&self, root: &Path) -> PathBuf {
        root.join("lib")
            .join(format!("python{}.{}", self.version.0, self.version.1))
            .join("site-packages")
    }
}

/// A candidate that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The candidate's path.
    pub path: PathBuf,
    /// The reason, worded as the end of the sentence "PATH REASON".
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
    /// The configured path does not exist.
    #[error("does not exist")]
    Missing,
    /// The operating system refused to run it.
    #[error("cannot be started: {cause}")]
    NotStarted {
        /// The operating system's message.
        cause: String,
    },
    /// The probe exceeded its time limit.
    #[error("did not describe itself within {seconds} s")]
    TimedOut {
        /// The time limit in seconds.
        seconds: u64,
    },
    /// The probe's output is not an answer. An example is a shim without a chosen version.
    #[error("did not describe itself: {cause}")]
    NoAnswer {
        /// The end of the output.
        cause: String,
    },
    /// Another implementation, such as PyPy or GraalPy.
    #[error("is {name}, and only CPython can be confined here")]
    NotCPython {
        /// The implementation's own name.
        name: String,
    },
    /// A version older than [`OLDEST`].
    #[error("is Python {version}, and 3.10 or newer is needed")]
    TooOld {
        /// `major.minor.micro`.
        version: String,
    },
    /// A 32-bit build, whose system calls the filter refuses.
    #[error("is a 32-bit build, and the sandbox admits 64-bit system calls only")]
    Not64Bit,
    /// A C library other than glibc.
    #[error("uses the C library {libc}, and forked sessions are proven with glibc only")]
    Libc {
        /// As the probe reports it.
        libc: String,
    },
    /// A build without the global interpreter lock.
    #[error("is a free-threaded build, whose zygote could not be single-threaded")]
    FreeThreaded,
    /// A build without `ctypes`, through which the zygote loads its session code.
    #[error("has no ctypes module, which the sandbox loads its own code with")]
    NoCtypes,
    /// This user cannot read files that the guest needs.
    #[error("cannot be used: {} is not readable by this user", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
    },
    /// Root's sessions have their own user ids, and these users cannot read the files.
    #[error(
        "cannot be used: {} is not readable by other users, and sessions run under user ids of their own (chmod -R o+rX {})",
        path.display(),
        prefix.display()
    )]
    NotWorldReadable {
        /// The file or directory.
        path: PathBuf,
        /// The tree to make readable.
        prefix: PathBuf,
    },
}

fn as_text<S: serde::Serializer>(reason: &SkipReason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(reason)
}
