//! Runs a probe in a candidate Python, and decides whether guests can run that Python.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::Access;
use serde::{Deserialize, Serialize};

use super::interpreter::{Interpreter, OLDEST, SkipReason};
use crate::child;

const PROBE: &str = include_str!("probe.py");

/// Time limit of the probe. A shim may start a shell that reads its own files from a cold disk.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProbeAnswer {
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

pub(super) fn ask(path: &Path, timeout: Duration) -> Result<ProbeAnswer, SkipReason> {
    let answer = child::ask(path, &["-I", "-S", "-c", PROBE], timeout).map_err(|error| match error {
        child::AskError::NotStarted(source) => SkipReason::NotStarted {
            cause: source.to_string(),
        },
        child::AskError::TimedOut => SkipReason::TimedOut {
            seconds: timeout.as_secs(),
        },
    })?;
    serde_json::from_slice(&answer.stdout).map_err(|_| SkipReason::NoAnswer {
        cause: answer.output_tail(),
    })
}

/// Decides whether guests can run this Python. `found_at` is the candidate's path.
pub(super) fn judge(
    found_at: &Path,
    facts: &ProbeAnswer,
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

/// The user whose rights apply to a session's file accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionUser {
    /// Each session has its own user: codeyard runs as root.
    PerSession,
    /// The user that runs codeyard.
    Host,
}

impl SessionUser {
    pub(super) fn of_this_process() -> SessionUser {
        if rustix::process::geteuid().is_root() {
            SessionUser::PerSession
        } else {
            SessionUser::Host
        }
    }
}

/// Whether every user may read the files that guests run. An error if guests could not read them.
fn check_access(facts: &ProbeAnswer, sessions: SessionUser) -> Result<bool, SkipReason> {
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
        Some(_) if sessions == SessionUser::Host => Ok(false),
        Some((path, _, _)) => Err(SkipReason::NotWorldReadable {
            path: path.clone(),
            prefix: facts.base_prefix.clone(),
        }),
    }
}

#[cfg(test)]
mod tests;
