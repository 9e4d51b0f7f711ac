//! Asks a candidate what it is and judges the answer.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::Access;
use serde::{Deserialize, Serialize};

use super::child;
use super::interpreter::{Interpreter, OLDEST, SkipReason};

/// The script that the candidate runs.
const PROBE: &str = include_str!("probe.py");

/// A shim may start a shell, which reads its own files, on a cold disk.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// What the probe prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Facts {
    version: (u32, u32, u32),
    implementation: String,
    bits: u32,
    pub(super) executable: PathBuf,
    base_prefix: PathBuf,
    base_exec_prefix: PathBuf,
    stdlib: PathBuf,
    platlibdir: String,
    dynload: Option<PathBuf>,
    libpython: Option<PathBuf>,
    libc: String,
    free_threaded: bool,
    has_ctypes: bool,
    pip: Option<PathBuf>,
}

/// Runs the probe in the candidate at `path`.
pub(super) fn ask(path: &Path, patience: Duration) -> Result<Facts, SkipReason> {
    let answer = child::ask(path, &["-I", "-S", "-c", PROBE], patience).map_err(|error| match error {
        child::AskError::NotStarted(source) => SkipReason::NotStarted {
            cause: source.to_string(),
        },
        child::AskError::TimedOut => SkipReason::TimedOut {
            seconds: patience.as_secs(),
        },
    })?;
    serde_json::from_slice(&answer.stdout).map_err(|_| SkipReason::NoAnswer {
        cause: answer.last_words(),
    })
}

/// Decides whether guests can run the Python with these facts, and under which view of the file system it was found.
pub(super) fn judge(
    found_at: &Path,
    facts: &Facts,
    sessions: SessionUser,
) -> Result<Interpreter, SkipReason> {
    let (major, minor, micro) = facts.version;
    if facts.implementation != "cpython" {
        return Err(SkipReason::NotCPython {
            name: facts.implementation.clone(),
        });
    }
    if (major, minor) < OLDEST {
        return Err(SkipReason::TooOld {
            version: format!("{major}.{minor}.{micro}"),
        });
    }
    if facts.bits != 64 {
        return Err(SkipReason::Not64Bit);
    }
    if !facts.libc.starts_with("glibc ") {
        return Err(SkipReason::Libc {
            libc: facts.libc.clone(),
        });
    }
    if facts.free_threaded {
        return Err(SkipReason::FreeThreaded);
    }
    if !facts.has_ctypes {
        return Err(SkipReason::NoCtypes);
    }
    let world_readable = check_access(facts, sessions)?;
    Ok(Interpreter {
        found_at: found_at.to_owned(),
        executable: facts.executable.clone(),
        version: facts.version,
        base_prefix: facts.base_prefix.clone(),
        base_exec_prefix: facts.base_exec_prefix.clone(),
        stdlib: facts.stdlib.clone(),
        dynload: facts.dynload.clone(),
        platlibdir: facts.platlibdir.clone(),
        libpython: facts.libpython.clone(),
        libc: facts.libc.clone(),
        world_readable,
        pip: facts.pip.clone(),
    })
}

/// Whose rights a session's file accesses are checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionUser {
    /// A user id of its own: codeyard runs as root.
    Own,
    /// The user that runs codeyard.
    Ours,
}

impl SessionUser {
    /// What holds for this process.
    pub(super) fn of_this_process() -> SessionUser {
        if rustix::process::geteuid().is_root() {
            SessionUser::Own
        } else {
            SessionUser::Ours
        }
    }
}

/// Whether everybody may read what a guest runs; an error if the guest could not.
fn check_access(facts: &Facts, sessions: SessionUser) -> Result<bool, SkipReason> {
    let os_module = facts.stdlib.join("os.py");
    let needed = [
        (&facts.executable, Access::READ_OK | Access::EXEC_OK, 0o005),
        (&facts.stdlib, Access::READ_OK | Access::EXEC_OK, 0o005),
        (&os_module, Access::READ_OK, 0o004),
    ];
    for (path, access, _) in needed {
        if rustix::fs::access(path.as_path(), access).is_err() {
            return Err(SkipReason::Unreadable { path: path.clone() });
        }
    }
    let closed = needed.into_iter().find(|(path, _, bits)| {
        fs::metadata(path).map_or(true, |metadata| metadata.permissions().mode() & bits != *bits)
    });
    match closed {
        None => Ok(true),
        Some(_) if sessions == SessionUser::Ours => Ok(false),
        Some((path, _, _)) => Err(SkipReason::NotWorldReadable {
            path: path.clone(),
            prefix: facts.base_prefix.clone(),
        }),
    }
}

#[cfg(test)]
mod tests;
