//! Confinement of an upstream server: Landlock limits its files, seccomp blocks ways around Landlock, and the server
//! has no capability.
//!
//! The supervisor prepares everything; the server's process applies it between fork and exec. If any part cannot be
//! applied, the start fails. A confined server can:
//!
//! - read and execute the system's programs and libraries, and the paths that its definition names;
//! - write the paths that its definition names;
//! - signal and trace only the processes that it started;
//! - open sockets only with `network`.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::seccomp::{self, RulesError};
use crate::session::{self, Filter, NetworkAccess, PathAccess, alone};

/// Rights of a server, in addition to reading and executing the system's own files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Files and directories that the server may read and execute.
    pub read: Vec<PathBuf>,
    /// Files and directories that the server may change.
    pub write: Vec<PathBuf>,
    /// Whether the server may open connections and listen.
    pub network: bool,
}

/// Why a server cannot be confined as its definition asks.
#[derive(Debug, thiserror::Error)]
pub enum ConfinementError {
    /// The kernel lacks a required feature.
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
        /// The system's error.
        source: io::Error,
    },
    /// The embedded rules are wrong, which a test rules out.
    #[error(transparent)]
    Rules(#[from] RulesError),
}

const PROGRAMS: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// System files that programs need to run. These files hold no secrets, even if root reads them.
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
/// Devices that store nothing.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
/// The process's own directory, opened by the process itself.
const OWN: &CStr = c"/proc/self";

#[derive(Debug)]
pub(crate) struct Prepared {
    ruleset: OwnedFd,
    filter: Vec<u8>,
}

/// Whether this kernel can confine a server.
///
/// # Errors
/// [`ConfinementError::Kernel`] if it cannot.
pub fn check() -> Result<(), ConfinementError> {
    make_ruleset(NetworkAccess::Denied).map(drop)
}

/// Denies this process, with the threads and processes that it starts from now on, every file that is not open yet, and
/// every connection. The process needs `no_new_privs`.
///
/// # Errors
/// [`ConfinementError::Kernel`] if the kernel cannot.
pub fn deny_files_and_network() -> Result<(), ConfinementError> {
    let ruleset = make_ruleset(NetworkAccess::Denied)?;
    session::enforce(ruleset.as_raw_fd()).map_err(|_| ConfinementError::Kernel)
}

impl Prepared {
    /// Opens the paths that the confinement names. `program` may be executed wherever it is.
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
                // A path that is missing, or closed to this user, needs no rule.
                let _ = allow(&ruleset, Path::new(path), access);
            }
        }
        // A missing program is reported at exec.
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

    /// Confines the calling process, which then executes its program. Allocates nothing and takes no lock.
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
