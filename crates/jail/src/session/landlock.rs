//! The Landlock ruleset of sessions: built once by the zygote, enforced by each child.

use core::mem::size_of;

use super::arch::number;
use super::sys::{self, Errno, Result};

/// Access beneath a rule's path. `zygote.py` uses the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[cfg_attr(
    not(codeyard_session_library),
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum PathAccess {
    /// Read files and directories.
    Read = 0,
    /// Read and execute.
    Execute = 1,
    /// Read and write device files.
    Device = 2,
    /// All access except device nodes and execution, for the session's own file system.
    Own = 3,
    /// Read, write and make files and directories; no sockets, no FIFOs, no execution.
    Attached = 4,
    /// List directories only, for the root directory itself.
    List = 5,
    /// As `Own`, plus execution: for upstream servers, and for sessions if the settings ask for it.
    OwnExecutable = 6,
}

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
/// Rights that a rule may grant on a path that is not a directory.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
const O_PATH_CLOEXEC: usize = 0o12_000_000;
const O_DIRECTORY: usize = 0o200_000;
const O_NOFOLLOW: usize = 0o400_000;
const NO_DIRECTORY: Errno = Errno(20);

/// Arguments of landlock_create_ruleset; older kernels take a prefix.
#[repr(C)]
struct RulesetAttributes {
    files: u64,
    network: u64,
    scoped: u64,
}

/// Argument of landlock_add_rule; packed as the kernel defines it.
#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

fn version() -> Result<usize> {
    const VERSION: usize = 1;
    // SAFETY: with this flag the call takes no pointer.
    unsafe { sys::call(number::LANDLOCK_CREATE_RULESET, &[0, 0, VERSION]) }
}

/// File accesses that a kernel of that version handles.
fn handled(version: usize) -> u64 {
    match version {
        0 | 1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        _ => (1 << 16) - 1,
    }
}

/// Rules of a session that looks like a container. A rule on a directory does not cover later mounts on that
/// directory, so the session makes its rules after mounting. Missing paths and links get no rule.
const CONTAINER: [(&core::ffi::CStr, PathAccess); 11] = [
    (c"/", PathAccess::Read),
    (c"/usr", PathAccess::Execute),
    (c"/opt", PathAccess::Execute),
    (c"/bin", PathAccess::Execute),
    (c"/lib", PathAccess::Execute),
    (c"/lib64", PathAccess::Execute),
    (c"/dev", PathAccess::Device),
    (c"/at", PathAccess::Attached),
    (c"/workspace", PathAccess::Attached),
    (c"/tmp", PathAccess::Own),
    (c"/dev/shm", PathAccess::Own),
];

/// Creates an empty ruleset that handles every access the kernel knows; returns a descriptor or a negative error
/// number.
pub fn create() -> i64 {
    signed(version().and_then(create_for))
}

pub fn enforce(ruleset: i32) -> Result<()> {
    // SAFETY: landlock_restrict_self takes numbers.
    unsafe { sys::call(number::LANDLOCK_RESTRICT_SELF, &[sys::fd(ruleset), 0]) }.map(|_| ())
}

/// Confines the calling process to the rules of a session that looks like a container, with `own` access to its own
/// files.
pub fn enforce_container(own: PathAccess) -> Result<()> {
    const NOT_THERE: [Errno; 2] = [Errno(2), NO_DIRECTORY];
    let version = version()?;
    let ruleset = i32::try_from(create_for(version)?).map_err(|_| Errno(24))?;
    for (path, access) in CONTAINER {
        let access = match access {
            PathAccess::Own => own,
            access => access,
        };
        match sys::open(path, O_PATH_CLOEXEC | O_DIRECTORY | O_NOFOLLOW) {
            Ok(parent) => add(ruleset, parent, rights(access as u32)? & handled(version))?,
            Err(errno) if NOT_THERE.contains(&errno) => {}
            Err(errno) => return Err(errno),
        }
    }
    enforce(ruleset)?;
    sys::close(ruleset);
    Ok(())
}

#[cfg(not(codeyard_session_library))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkAccess {
    /// The server cannot open sockets.
    Denied,
    /// The server may connect and listen.
    Allowed,
}

/// Creates an empty ruleset for a server: scopes signals and abstract sockets, and refuses connections unless allowed.
/// Fails with EOPNOTSUPP on an older kernel without scopes.
#[cfg(not(codeyard_session_library))]
pub fn create_for_server(network: NetworkAccess) -> Result<i32> {
    const SCOPES: usize = 6;
    const NOT_SUPPORTED: Errno = Errno(95);
    let version = version()?;
    if version < SCOPES {
        return Err(NOT_SUPPORTED);
    }
    let connections = match network {
        NetworkAccess::Allowed => 0,
        NetworkAccess::Denied => 3,
    };
    let ruleset = make(
        version,
        RulesetAttributes {
            files: handled(version),
            network: connections,
            scoped: 3,
        },
    );
    i32::try_from(ruleset?).map_err(|_| Errno(24))
}

fn create_for(version: usize) -> Result<usize> {
    let attributes = RulesetAttributes {
        files: handled(version),
        network: if version >= 4 { 3 } else { 0 },
        scoped: if version >= 6 { 3 } else { 0 },
    };
    make(version, attributes)
}

/// Creates an empty ruleset with as many attributes as a kernel of that version takes.
fn make(version: usize, attributes: RulesetAttributes) -> Result<usize> {
    let size = match version {
        0..=3 => size_of::<u64>(),
        4 | 5 => 2 * size_of::<u64>(),
        _ => size_of::<RulesetAttributes>(),
    };
    // SAFETY: the attributes outlive the call and are at least `size` long.
    unsafe {
        sys::call(
            number::LANDLOCK_CREATE_RULESET,
            &[&raw const attributes as usize, size, 0],
        )
    }
}

/// Confines the signals of the calling process and its descendants to each other. Files and sockets stay unconfined.
#[cfg(not(codeyard_session_library))]
pub fn scope_signals() -> Result<()> {
    const SIGNAL: u64 = 2;
    let attributes = RulesetAttributes {
        files: 0,
        network: 0,
        scoped: SIGNAL,
    };
    // SAFETY: the attributes outlive the calls, which take numbers beside them.
    unsafe {
        let attributes = &raw const attributes as usize;
        let size = size_of::<RulesetAttributes>();
        let ruleset = sys::call(number::LANDLOCK_CREATE_RULESET, &[attributes, size, 0])?;
        let done = sys::call(number::LANDLOCK_RESTRICT_SELF, &[ruleset, 0]);
        sys::call(number::CLOSE, &[ruleset])?;
        done.map(|_| ())
    }
}

/// Adds a rule for the tree or file at `path`; returns 0 or a negative error number.
///
/// # Safety
/// `path` is NUL-terminated.
pub unsafe fn allow(ruleset: i32, path: *const u8, access: u32) -> i64 {
    // SAFETY: the caller passes a NUL-terminated string.
    let path = unsafe { core::ffi::CStr::from_ptr(path.cast()) };
    let result = version().and_then(|version| {
        let allowed = rights(access)? & handled(version);
        let (parent, allowed) = match sys::open(path, O_PATH_CLOEXEC | O_DIRECTORY) {
            Err(NO_DIRECTORY) => (sys::open(path, O_PATH_CLOEXEC)?, allowed & OF_FILES),
            directory => (directory?, allowed),
        };
        add(ruleset, parent, allowed).map(|()| 0)
    });
    signed(result)
}

fn add(ruleset: i32, parent: i32, allowed: u64) -> Result<()> {
    const PATH_BENEATH: usize = 1;
    let rule = PathBeneath { allowed, parent };
    // SAFETY: the rule outlives the call.
    let added = unsafe {
        let rule = &raw const rule as usize;
        sys::call(
            number::LANDLOCK_ADD_RULE,
            &[sys::fd(ruleset), PATH_BENEATH, rule, 0],
        )
    };
    sys::close(parent);
    added.map(|_| ())
}

fn rights(access: u32) -> Result<u64> {
    const EVERYTHING: u64 = u64::MAX;
    const INVALID: Errno = Errno(22);
    match access {
        a if a == PathAccess::Read as u32 => Ok(READ_FILE | READ_DIR),
        a if a == PathAccess::Execute as u32 => Ok(READ_FILE | READ_DIR | EXECUTE),
        a if a == PathAccess::Device as u32 => Ok(READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE),
        a if a == PathAccess::List as u32 => Ok(READ_DIR),
        a if a == PathAccess::Own as u32 => Ok(EVERYTHING & !(MAKE_CHAR | MAKE_BLOCK | EXECUTE)),
        a if a == PathAccess::OwnExecutable as u32 => Ok(EVERYTHING & !(MAKE_CHAR | MAKE_BLOCK)),
        a if a == PathAccess::Attached as u32 => {
            Ok(EVERYTHING & !(MAKE_CHAR | MAKE_BLOCK | MAKE_SOCK | MAKE_FIFO | EXECUTE))
        }
        _ => Err(INVALID),
    }
}

fn signed(result: Result<usize>) -> i64 {
    match result {
        Ok(value) => i64::try_from(value).unwrap_or(i64::MAX),
        Err(errno) => -i64::from(errno.0),
    }
}
