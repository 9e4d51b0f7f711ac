//! The guest's side of the fork: receives the keeper's preparations, confines itself and executes the program.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use super::spec::GuestSpec;
use crate::launcher::step::{During, StepError};
use crate::launcher::sys;
use crate::seccomp::{self, Filters, Namespaces};
use crate::session::alone;
use crate::session::wire::{self, ENTRANCES, Request};
use crate::session::{self, Descriptors, Filter, Step};
use crate::supervise::default_signals;

/// Made while the keeper still runs as its own user.
pub(super) struct Prepared {
    channel: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    ruleset: OwnedFd,
    filters: Filters,
}

impl Prepared {
    /// `descriptors` are channel, standard output and standard error.
    pub(super) fn new(spec: &GuestSpec, descriptors: Vec<OwnedFd>) -> Result<Self, StepError> {
        let [channel, stdout, stderr] = descriptors
            .try_into()
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
            .during("receive the descriptors")?;
        Ok(Self {
            channel,
            stdout,
            stderr,
            ruleset: ruleset(spec)?,
            filters: seccomp::filters(spec.memory.into(), Namespaces::Shared)
                .map_err(io::Error::other)
                .during("compile the filters")?,
        })
    }

    /// Waits until the host has set this process's limits, confines it and executes its program; never returns.
    pub(super) fn run(&self, spec: &GuestSpec, released: &OwnedFd) -> ! {
        let mut byte = [0];
        let go = rustix::io::retry_on_intr(|| rustix::io::read(released, &mut byte));
        if go != Ok(1) {
            session::exit(1);
        }
        default_signals();
        sys::ignore_interrupts();
        // The kernel kills sessions first when memory runs out. If /proc is closed, sessions do not get this
        // preference.
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
        let request = Request {
            flags: if spec.user.is_some() { wire::SET_USER } else { 0 },
            user: spec.user.map_or(0, u64::from),
            rlimits: spec.rlimits,
            ..Request::default()
        };
        let descriptors = Descriptors {
            channel: self.channel.as_raw_fd(),
            stdout: self.stdout.as_raw_fd(),
            stderr: self.stderr.as_raw_fd(),
            network: -1,
            entrances: [-1; ENTRANCES],
        };
        let filters = [filter(&self.filters.zygote), filter(&self.filters.session)];
        // SAFETY: the filters outlive the call; this is a fresh child with one thread.
        unsafe { alone::confine(&request, descriptors, self.ruleset.as_raw_fd(), filters) };
        // After the change of user: this user may have no access to the directory.
        if let Err(errno) = rustix::process::chdir(&spec.working_directory) {
            alone::fail(Step::Directories, session::Errno(errno.raw_os_error()));
        }
        let error = sys::execute(&spec.program, &spec.arguments, &spec.environment);
        alone::fail(Step::Execute, session::Errno(error.raw_os_error().unwrap_or(0)))
    }
}

fn ruleset(spec: &GuestSpec) -> Result<OwnedFd, StepError> {
    let made = system_result(session::codeyard_ruleset()).during("make the Landlock ruleset")?;
    // SAFETY: the descriptor is fresh and owned by nobody else.
    let ruleset = unsafe { OwnedFd::from_raw_fd(made) };
    for rule in &spec.rules {
        let step = || format!("allow {}", rule.path.display());
        let path = std::ffi::CString::new(rule.path.as_os_str().as_bytes())
            .map_err(io::Error::from)
            .during(step())?;
        let access = rule.access as u32;
        // SAFETY: the path is NUL-terminated and outlives the call.
        let allowed = unsafe { session::codeyard_allow(ruleset.as_raw_fd(), path.as_ptr().cast(), access) };
        system_result(allowed).during(step())?;
    }
    Ok(ruleset)
}

/// Converts the library's results: a number, or a negative error number.
fn system_result(result: i64) -> io::Result<i32> {
    let number = i32::try_from(result).map_err(io::Error::other)?;
    if number < 0 {
        return Err(io::Error::from_raw_os_error(-number));
    }
    Ok(number)
}

fn filter(bytes: &[u8]) -> Filter {
    const INSTRUCTION: usize = 8;
    Filter {
        len: u16::try_from(bytes.len() / INSTRUCTION).unwrap_or(u16::MAX),
        instructions: bytes.as_ptr(),
    }
}
