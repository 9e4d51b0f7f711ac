//! The user's own directories in sessions: checked and resolved once.

mod below;

use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::config::Mount;

/// Most mounts of one process.
pub const MOST_MOUNTS: usize = 16;

/// Longest wait for a directory's file system, which may be on a network.
const ANSWER: Duration = Duration::from_secs(5);

/// Longest path in a session, in bytes; short enough for an error to show.
const LONGEST_TARGET: usize = 200;

/// Paths that sessions use for their own files, or may use later.
const RESERVED: [&str; 34] = [
    "workspace",
    "results",
    "tools",
    "skills",
    "scratch",
    "servers",
    "shared",
    "tmp",
    "home",
    "root",
    "usr",
    "etc",
    "proc",
    "sys",
    "dev",
    "run",
    "var",
    "opt",
    "bin",
    "sbin",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "boot",
    "mnt",
    "media",
    "srv",
    "at",
    "k",
    "rw",
    "old",
    "new",
    "lost+found",
];

/// Kernel directories. A write below them changes the machine, and a read reveals facts about the machine.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// A mount as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountRequest {
    /// Host directory.
    pub path: PathBuf,
    /// Path in sessions.
    pub target: String,
    /// Access of sessions.
    pub mode: Mode,
}

/// Access of sessions to a mount.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Read.
    #[default]
    ReadOnly,
    /// Read and write.
    ReadWrite,
}

/// The text does not have the form `DIR:/target[:ro|:rw]`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a mount; write DIR:/target, or DIR:/target:rw to let programs write there, such as /home/me/tables:/data"
)]
pub struct BadMount(String);

/// Why sessions do not see a directory. Each message ends with what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum MountError {
    #[error("{}: there is no such directory{}", .0.display(), tilde(.0))]
    Missing(PathBuf),
    #[error("{}: this is not a directory; name the directory that it is in", .0.display())]
    NotADirectory(PathBuf),
    #[error("{}: the path goes through a symbolic link; write {} if that is what you mean", .path.display(), .resolved.display())]
    Link { path: PathBuf, resolved: PathBuf },
    #[error("{}: the whole machine is not shown to programs; name a directory with only what they need", .0.display())]
    Everything(PathBuf),
    #[error("{}: belongs to the kernel and is not shown to programs; copy what they need to a directory of yours", .0.display())]
    Kernel(PathBuf),
    #[error(
        "{}: its file system did not answer within {} s; check the server or the program behind it, or remove the mount",
        .0.display(), ANSWER.as_secs()
    )]
    Silent(PathBuf),
    #[error("{}: holds, or lies in, codeyard's own data directory {}; name another directory, or another data directory with --data",
        .path.display(), .data.display())]
    Data { path: PathBuf, data: PathBuf },
    #[error("{}: cannot be used: {cause}; give this user the right to {right}", .path.display())]
    Denied {
        path: PathBuf,
        cause: String,
        right: &'static str,
    },
    #[error("{}: belongs to root, and so would files that programs write there; give the directory to an ordinary user, or mount it read-only",
        .0.display())]
    RootOwned(PathBuf),
    #[error(
        "`{0}` cannot be a target; write an absolute path of at most {LONGEST_TARGET} bytes, such as /data, with letters, digits, `.`, `_`, `-` and `+`; no part may begin with `.`"
    )]
    BadTarget(String),
    #[error("`{0}` is reserved for sessions; choose another target, such as /data")]
    Reserved(String),
    #[error("`{target}` is taken: another mount has `{other}`; write one beside it")]
    Taken { target: String, other: String },
    #[error("there are more than {MOST_MOUNTS} mounts; mount a directory that holds several of them")]
    TooMany,
}

/// Facts against which a mount is checked.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The data directory, which programs must not see.
    pub data: &'a Path,
    /// The earlier mounts.
    pub before: &'a [Mount],
}

// === impl MountRequest ===

impl FromStr for MountRequest {
    type Err = BadMount;

    fn from_str(text: &str) -> Result<MountRequest, BadMount> {
        let bad = || BadMount(text.escape_debug().take(300).collect());
        let (rest, mode) = match text.rsplit_once(':') {
            Some((rest, "ro")) => (rest, Mode::ReadOnly),
            Some((rest, "rw")) => (rest, Mode::ReadWrite),
            _ => (text, Mode::ReadOnly),
        };
        let (path, target) = rest.rsplit_once(':').ok_or_else(bad)?;
        if path.is_empty() || !target.starts_with('/') {
            return Err(bad());
        }
        Ok(MountRequest {
            path: PathBuf::from(path),
            target: target.to_owned(),
            mode,
        })
    }
}

impl MountRequest {
    /// Checks the mount. A relative path starts at `directory`.
    ///
    /// # Errors
    /// The reason for refusing the mount, with what to do. A file system that does not answer in time is a reason too.
    pub fn resolve(&self, directory: &Path, surroundings: Surroundings<'_>) -> Result<Mount, MountError> {
        let (asked, from) = (self.clone(), directory.to_owned());
        let (data, before) = (surroundings.data.to_owned(), surroundings.before.to_vec());
        let (sender, receiver) = mpsc::sync_channel(1);
        // A hanging thread cannot be ended, so the caller abandons it after the time limit.
        std::thread::spawn(move || {
            let surroundings = Surroundings {
                data: &data,
                before: &before,
            };
            // The caller may have given up.
            let _ = sender.send(asked.resolve_now(&from, surroundings));
        });
        let answered = receiver.recv_timeout(ANSWER);
        answered.unwrap_or_else(|_| Err(MountError::Silent(normal(&directory.join(&self.path)))))
    }

    fn resolve_now(&self, directory: &Path, surroundings: Surroundings<'_>) -> Result<Mount, MountError> {
        let target = place(&self.target, surroundings.before)?;
        let path = normal(&directory.join(&self.path));
        let source = std::fs::canonicalize(&path).map_err(|cause| denied(&path, &cause))?;
        refuse_places(&path, &source, surroundings.data)?;
        if source != path {
            return Err(MountError::Link {
                path,
                resolved: source,
            });
        }
        let metadata = std::fs::metadata(&source).map_err(|cause| denied(&path, &cause))?;
        if !metadata.is_dir() {
            return Err(MountError::NotADirectory(path));
        }
        let writable = self.mode == Mode::ReadWrite;
        if writable && metadata.uid() == 0 && rustix::process::geteuid().is_root() {
            return Err(MountError::RootOwned(path));
        }
        let (access, right) = match self.mode {
            Mode::ReadOnly => (Access::READ_OK | Access::EXEC_OK, "read it"),
            Mode::ReadWrite => (
                Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK,
                "write there",
            ),
        };
        accessat(CWD, &source, access, AtFlags::EACCESS).map_err(|cause| MountError::Denied {
            path,
            cause: io::Error::from(cause).to_string(),
            right,
        })?;
        if surroundings.before.len() >= MOST_MOUNTS {
            return Err(MountError::TooMany);
        }
        Ok(Mount {
            source,
            target,
            writable,
        })
    }
}

impl Mount {
    /// File systems mounted below the directory, which a read-only mount does not show.
    pub fn not_shown(&self) -> Vec<PathBuf> {
        if self.writable {
            return Vec::new();
        }
        below::mounted_below(&self.source)
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = if self.writable { "rw" } else { "ro" };
        write!(f, "{}:{}:{mode}", self.source.display(), self.target)
    }
}

/// Refuses reserved places. Checks both the written path and the resolved path.
fn refuse_places(path: &Path, source: &Path, data: &Path) -> Result<(), MountError> {
    for named in [path, source] {
        if named == Path::new("/") {
            return Err(MountError::Everything(path.to_path_buf()));
        }
        if KERNEL.iter().any(|kernel| named.starts_with(kernel)) {
            return Err(MountError::Kernel(path.to_path_buf()));
        }
    }
    let data = resolved(&normal(data));
    if source.starts_with(&data) || data.starts_with(source) {
        return Err(MountError::Data {
            path: path.to_path_buf(),
            data,
        });
    }
    Ok(())
}

/// The path in sessions, if it is allowed together with the earlier mounts.
fn place(target: &str, before: &[Mount]) -> Result<String, MountError> {
    let bad = || MountError::BadTarget(target.escape_debug().take(LONGEST_TARGET).collect());
    let below = target.strip_prefix('/').ok_or_else(bad)?;
    let below = below.strip_suffix('/').unwrap_or(below);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    let right = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(plain);
    if target.len() > LONGEST_TARGET || !below.split('/').all(right) {
        return Err(bad());
    }
    let target = format!("/{below}");
    let top = below.split('/').next().unwrap_or_default();
    if RESERVED.contains(&top) {
        return Err(MountError::Reserved(target));
    }
    let meets = |other: &&Mount| {
        Path::new(&target).starts_with(&other.target) || Path::new(&other.target).starts_with(&target)
    };
    match before.iter().find(meets) {
        Some(other) => Err(MountError::Taken {
            other: other.target.clone(),
            target,
        }),
        None => Ok(target),
    }
}

fn denied(path: &Path, cause: &io::Error) -> MountError {
    match cause.kind() {
        io::ErrorKind::NotFound => MountError::Missing(path.to_path_buf()),
        io::ErrorKind::NotADirectory => MountError::NotADirectory(path.to_path_buf()),
        _ => MountError::Denied {
            path: path.to_path_buf(),
            cause: cause.to_string(),
            right: "read it",
        },
    }
}

/// Removes `.` and `..` by the text alone. If the system resolves the path differently, the path contains a link.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// Resolves links in the existing part of a path. Codeyard will create the rest.
fn resolved(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = std::fs::canonicalize(above) {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            };
        }
    }
    path.to_path_buf()
}

fn tilde(path: &Path) -> &'static str {
    let written = path
        .components()
        .any(|part| part.as_os_str().as_encoded_bytes().first() == Some(&b'~'));
    if written {
        "; `~` is not expanded, write the whole path"
    } else {
        "; make it, or correct the path"
    }
}

#[cfg(test)]
mod tests;
