//! What a confined upstream server may do: files by Landlock, no way around them by seccomp, no capability.
//!
//! The supervisor prepares everything; the server's process takes it on between fork and exec. What cannot be given fails
//! the start. A confined server reads and executes the system's programs and libraries and what its definition names; it
//! writes what its definition names; it signals and traces only what it started; without `network` it opens no socket.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::seccomp::{self, RulesError};
use crate::session::{self, Filter, NetworkAccess, PathAccess, alone};

/// What a server may do beside reading and executing the system's own files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Files and directories that it may read and execute.
    pub read: Vec<PathBuf>,
    /// Files and directories that it may change.
    pub write: Vec<PathBuf>,
    /// Whether it may open connections and listen.
    pub network: bool,
}

/// Why a server cannot be confined as its definition asks.
#[derive(Debug, thiserror::Error)]
pub enum ConfinementError {
    /// The kernel lacks what it takes.
    #[error(
        "this kernel cannot confine a server: that takes Linux 6.12 with Landlock switched on; remove `sandbox` to run it unconfined"
    )]
    Kernel,
    /// A path of the definition cannot be opened.
    #[error(
        "`sandbox` names {}, which cannot be opened: {source}; make it or name another path",
        path.display()
    )]
    Path {
        /// The path.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// The embedded rules are wrong, which a test rules out.
    #[error(transparent)]
    Rules(#[from] RulesError),
}

/// Programs and libraries of the system.
const PROGRAMS: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Files of the system without which programs do not run; nothing among them is secret, whoever reads it.
const SETTINGS: [&str; 29] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/sys/devices/system/cpu",
];
/// Devices that hold nothing.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
/// The process's own, opened by itself.
const OWN: &CStr = c"/proc/self";

/// A confinement that is ready to be taken on.
#[derive(Debug)]
pub(crate) struct Prepared {
    ruleset: OwnedFd,
    filter: Vec<u8>,
}

/// Whether this kernel can confine a server at all.
///
/// # Errors
/// [`ConfinementError::Kernel`] if it cannot.
pub fn check() -> Result<(), ConfinementError> {
    make_ruleset(NetworkAccess::Denied).map(drop)
}

impl Prepared {
    /// Opens what the confinement names, and `program`, which may be executed wherever it is.
    pub(crate) fn new(confinement: &Confinement, program: &Path) -> Result<Prepared, ConfinementError> {
        let network = match confinement.network {
            true => NetworkAccess::Allowed,
            false => NetworkAccess::Denied,
        };
        let ruleset = make_ruleset(network)?;
        let allow_path = |path: &Path, access| {
            allow(&ruleset, path, access).map_err(|source| ConfinementError::Path {
                path: path.to_owned(),
                source,
            })
        };
        for (paths, access) in [
            (&PROGRAMS[..], PathAccess::Execute),
            (&SETTINGS, PathAccess::Read),
            (&DEVICES, PathAccess::Device),
        ] {
            for path in paths {
                // What this machine does not have, or does not let this user open, needs no rule.
                let _ = allow(&ruleset, Path::new(path), access);
            }
        }
        // A program that is not there is reported when it is executed.
        let _ = allow(&ruleset, program, PathAccess::Execute);
        for path in &confinement.read {
            allow_path(path, PathAccess::Execute)?;
        }
        for path in &confinement.write {
            allow_path(path, PathAccess::OwnExecutable)?;
        }
        let filter = seccomp::server_filter(network)?;
        Ok(Prepared { ruleset, filter })
    }

    /// Confines the calling process, which executes its program next. Allocates nothing and takes no lock.
    pub(crate) fn enter(&self) -> io::Result<()> {
        const INSTRUCTION: usize = 8;
        // SAFETY: the path is NUL-terminated. Without /proc there is nothing of it to be read.
        let _ = unsafe {
            session::codeyard_allow(
                self.ruleset.as_raw_fd(),
                OWN.as_ptr().cast(),
                PathAccess::Read as u32,
            )
        };
        let filter = Filter {
            len: u16::try_from(self.filter.len() / INSTRUCTION).unwrap_or(u16::MAX),
            instructions: self.filter.as_ptr(),
        };
        // SAFETY: the filter is valid and outlives the call.
        unsafe { alone::server(self.ruleset.as_raw_fd(), filter) }
            .map_err(|errno| io::Error::from_raw_os_error(errno.0))
    }
}

fn make_ruleset(network: NetworkAccess) -> Result<OwnedFd, ConfinementError> {
    let ruleset = session::create_for_server(network).map_err(|_| ConfinementError::Kernel)?;
    // SAFETY: the descriptor is fresh and owned by nobody else; the kernel closes it at the next execution.
    Ok(unsafe { OwnedFd::from_raw_fd(ruleset) })
}

fn allow(ruleset: &OwnedFd, path: &Path, access: PathAccess) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path is NUL-terminated and outlives the call.
    let allowed =
        unsafe { session::codeyard_allow(ruleset.as_raw_fd(), path.as_ptr().cast(), access as u32) };
    match i32::try_from(allowed) {
        Ok(errno) if errno < 0 => Err(io::Error::from_raw_os_error(-errno)),
        _ => Ok(()),
    }
}
