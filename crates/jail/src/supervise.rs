//! The subreaper of upstream servers: when its parent ends for any reason, every process that the subreaper started
//! ends too.
//!
//! `__supervise [--parent PID] [--group DIRECTORY]… [--confine JSON] -- COMMAND ARGS…` is a process between codeyard
//! and a server:
//!
//! ```text
//! codeyard ──► __supervise ──► server ──► whatever the server starts, detached or not
//!                  └ becomes the parent of every orphan below it
//! ```
//!
//! | event | action |
//! |---|---|
//! | SIGTERM | forwards it to the server's process group |
//! | SIGUSR1, or the parent ended | kills all descendants |
//! | the server ended | kills the remaining descendants, then exits with the server's status |
//!
//! With `--group` the server is in these control groups from its first instruction; with `--confine` it is confined.
//!
//! Exit status: that of the server, 128 + n for signal n, 127 if the command is not found, 126 if it cannot be
//! executed.

mod descendants;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process_group, pidfd_open,
    set_child_subreaper, set_parent_process_death_signal, setsid, wait,
};

use crate::cgroup;
use crate::confinement::{Confinement, ConfinementError, Prepared};

/// First argument of the supervisor process.
pub const ARGUMENT: &str = "__supervise";
const GROUP: &str = "--group";
const CONFINE: &str = "--confine";

/// First pause after a pass that killed a process. The supervisor gets no signal when a descendant ends that is not
/// its child.
const FIRST_LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 2_000_000,
};
/// Later pause, for descendants that end slowly or that the supervisor may not kill (another user's).
const LATER_LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// Passes before the later pauses begin.
const EAGER_PASSES: u32 = 500;

const CANNOT_EXECUTE: i32 = 126;
const NOT_FOUND: i32 = 127;
const OWN_FAILURE: i32 = 125;

#[derive(Debug, thiserror::Error)]
enum SuperviseError {
    #[error("usage: {ARGUMENT} [--parent PID] [--group DIRECTORY]… [--confine JSON] -- COMMAND [ARGS…]")]
    Usage,
    #[error("the process that started the supervisor is gone")]
    Orphaned,
    #[error("{step}: {source}")]
    System { step: &'static str, source: io::Error },
    #[error("cannot start '{}': {source}{hint}", command.to_string_lossy())]
    Start {
        command: OsString,
        source: io::Error,
        hint: &'static str,
    },
    #[error("cannot use the control group {}: {source}", path.display())]
    Group { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Confinement(#[from] ConfinementError),
}

/// Hint if a confined program cannot be executed although its own path is allowed.
const OUT_OF_REACH: &str =
    "; it is confined: `sandbox.read` must name the interpreter of a script and what that loads";

/// How a server is started, besides its command.
#[derive(Debug, Default)]
pub struct Terms {
    /// Directories of a control group, one per hierarchy. The server is in the group from the start. If codeyard is
    /// killed, the supervisor removes the directories.
    pub groups: Vec<PathBuf>,
    /// Rights of the server; `None` is unconfined.
    pub confinement: Option<Confinement>,
}

/// A command that runs `program` with `args` under the supervisor.
///
/// `supervisor` holds the first words of a command that ends in [`main`]; empty means this executable with
/// [`ARGUMENT`]. The supervisor leads its own process group. A signal to the caller's group therefore cannot end the
/// supervisor before its descendants.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the owner that ends children with everything they started"
)]
///
/// # Errors
/// If a path of the confinement is not Unicode.
pub fn command<I>(supervisor: &[OsString], terms: &Terms, program: &OsStr, args: I) -> io::Result<Command>
where
    I: IntoIterator,
    I::Item: AsRef<OsStr>,
{
    let mut command = match supervisor.split_first() {
        Some((executable, words)) => {
            let mut command = Command::new(executable);
            command.args(words);
            command
        }
        None => {
            let mut command = Command::new("/proc/self/exe");
            command.arg(ARGUMENT);
            command
        }
    };
    command.args(["--parent", &std::process::id().to_string()]);
    for group in &terms.groups {
        command.arg(GROUP).arg(group);
    }
    if let Some(confinement) = &terms.confinement {
        command.args([CONFINE, &serde_json::to_string(confinement)?]);
    }
    command.arg("--").arg(program).args(args).process_group(0);
    Ok(command)
}

/// Runs the supervisor with the arguments after [`ARGUMENT`]; must be called before any thread is started.
pub fn main(args: impl Iterator<Item = OsString>) -> ! {
    let status = run(args).unwrap_or_else(|error| {
        let status = match &error {
            SuperviseError::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => NOT_FOUND,
            SuperviseError::Start { .. } | SuperviseError::Confinement(_) | SuperviseError::Group { .. } => {
                CANNOT_EXECUTE
            }
            _ => OWN_FAILURE,
        };
        // Standard error may be closed.
        let _ = writeln!(io::stderr(), "codeyard: {error}");
        status
    });
    std::process::exit(status)
}

struct Request {
    parent: Pid,
    terms: Terms,
    command: OsString,
    args: Vec<OsString>,
}

struct Supervisor {
    parent: OwnedFd,
    signals: OwnedFd,
    /// The server; `None` once reaped.
    server: Option<Pid>,
    status: i32,
}

fn run(args: impl Iterator<Item = OsString>) -> Result<i32, SuperviseError> {
    let request = parse(args)?;
    close_inherited_descriptors();
    let system = |step| {
        move |error: rustix::io::Errno| SuperviseError::System {
            step,
            source: error.into(),
        }
    };
    set_child_subreaper(Some(getpid())).map_err(system("becoming the subreaper"))?;
    let parent = pidfd_open(request.parent, PidfdFlags::empty()).map_err(|_gone| SuperviseError::Orphaned)?;
    // If the parent ended before the pidfd was opened, the pidfd may refer to another process.
    if getppid() != Some(request.parent) {
        return Err(SuperviseError::Orphaned);
    }
    let signals = watch_signals().map_err(|source| SuperviseError::System {
        step: "watching signals",
        source,
    })?;
    let server = start(&request)?;
    release_streams();
    let status = Supervisor {
        parent,
        signals,
        server: Some(server),
        status: 0,
    }
    .supervise()?;
    if getppid() != Some(request.parent) {
        cgroup::remove_orphaned(&request.terms.groups);
    }
    Ok(status)
}

fn parse(mut args: impl Iterator<Item = OsString>) -> Result<Request, SuperviseError> {
    let mut parent = getppid();
    let mut terms = Terms::default();
    loop {
        let word = args.next().ok_or(SuperviseError::Usage)?;
        if word == "--" {
            break;
        }
        let value = args.next().ok_or(SuperviseError::Usage)?;
        match word.to_str() {
            Some("--parent") => {
                let pid = value.to_str().and_then(|pid| pid.parse().ok());
                parent = Some(pid.and_then(Pid::from_raw).ok_or(SuperviseError::Usage)?);
            }
            Some(GROUP) => terms.groups.push(value.into()),
            Some(CONFINE) => {
                let confinement = value.to_str().and_then(|json| serde_json::from_str(json).ok());
                terms.confinement = Some(confinement.ok_or(SuperviseError::Usage)?);
            }
            _ => return Err(SuperviseError::Usage),
        }
    }
    Ok(Request {
        parent: parent.ok_or(SuperviseError::Orphaned)?,
        terms,
        command: args.next().ok_or(SuperviseError::Usage)?,
        args: args.collect(),
    })
}

fn entrances(groups: &[PathBuf]) -> Result<Vec<File>, SuperviseError> {
    let open = |group: &PathBuf| {
        let path = group.join("cgroup.procs");
        let opened = File::options().write(true).open(&path);
        opened.map_err(|source| SuperviseError::Group { path, source })
    };
    groups.iter().map(open).collect()
}

/// Starts the server in its own session (no terminal), with default signals and only the three standard streams.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the owner that ends children with everything they started"
)]
fn start(request: &Request) -> Result<Pid, SuperviseError> {
    let supervisor = getpid();
    let Terms { groups, confinement } = &request.terms;
    let entrances = entrances(groups)?;
    let confinement = confinement
        .as_ref()
        .map(|confinement| Prepared::new(confinement, Path::new(&request.command)))
        .transpose()?;
    let is_confined = confinement.is_some();
    let mut command = Command::new(&request.command);
    command.args(&request.args);
    let prepare = move || {
        setsid()?;
        for entrance in &entrances {
            rustix::io::write(entrance, b"0")?;
        }
        if let Some(confinement) = &confinement {
            confinement.enter()?;
        }
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(supervisor) {
            return Err(io::ErrorKind::NotConnected.into());
        }
        default_signals();
        Ok(())
    };
    // SAFETY: between fork and exec the closure only makes system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(prepare) };
    let failed = |source: io::Error| SuperviseError::Start {
        command: request.command.clone(),
        hint: if is_confined && source.kind() == io::ErrorKind::PermissionDenied {
            OUT_OF_REACH
        } else {
            ""
        },
        source,
    };
    let child = command.spawn().map_err(failed)?;
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))
}

// === impl Supervisor ===

impl Supervisor {
    fn supervise(mut self) -> Result<i32, SuperviseError> {
        while self.server.is_some() {
            let parent_gone = self.wait_for_event(None)?;
            let kill_asked = self.take_signals();
            if parent_gone || kill_asked {
                break;
            }
            self.reap();
        }
        self.kill_all()
    }

    /// Waits until the parent ends, a signal arrives or the time is over; returns whether the parent has ended.
    fn wait_for_event(&self, timeout: Option<&Timespec>) -> Result<bool, SuperviseError> {
        let mut events = [
            PollFd::from_borrowed_fd(self.parent.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.signals.as_fd(), PollFlags::IN),
        ];
        match poll(&mut events, timeout) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(!events[0].revents().is_empty()),
            Err(error) => Err(SuperviseError::System {
                step: "waiting",
                source: error.into(),
            }),
        }
    }

    /// Takes all signals that have arrived; returns whether one of them asks to kill everything.
    ///
    /// The supervisor ignores SIGINT and SIGHUP, because they also reach the parent. The parent then stops the server
    /// or ends itself, and the supervisor notices both.
    fn take_signals(&self) -> bool {
        let mut kill_asked = false;
        let mut record = [0_u8; size_of::<libc::signalfd_siginfo>()];
        while let Ok(length) = rustix::io::read(&self.signals, &mut record)
            && length == record.len()
        {
            // The number is the first field of the record.
            let number = u32::from_ne_bytes([record[0], record[1], record[2], record[3]]);
            if number == libc::SIGUSR1.cast_unsigned() {
                kill_asked = true;
            } else if number == libc::SIGTERM.cast_unsigned()
                && let Some(server) = self.server
            {
                // The server is not reaped yet, so its pid cannot belong to another group.
                let _ = kill_process_group(server, Signal::TERM);
            }
        }
        kill_asked
    }

    /// Reaps every child that has ended; returns whether no child is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if Some(pid) == self.server => {
                    self.server = None;
                    self.status = exit_status(status);
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return false,
                Err(_no_child) => return true,
            }
        }
    }

    /// Kills all descendants: each pass finds the orphans of the previous pass.
    fn kill_all(mut self) -> Result<i32, SuperviseError> {
        let mut passes = 0;
        loop {
            descendants::kill();
            if self.reap() {
                return Ok(self.status);
            }
            passes += 1;
            let look = if passes < EAGER_PASSES {
                &FIRST_LOOK
            } else {
                &LATER_LOOK
            };
            // The parent's pidfd stays readable once the parent is gone, so only the signals are polled here.
            let mut events = [PollFd::from_borrowed_fd(self.signals.as_fd(), PollFlags::IN)];
            let _ = poll(&mut events, Some(look));
            self.take_signals();
        }
    }
}

fn exit_status(status: WaitStatus) -> i32 {
    status
        .exit_status()
        .or_else(|| status.terminating_signal().map(|signal| 128 + signal))
        .unwrap_or(OWN_FAILURE)
}

// === system calls that need `unsafe` ===

/// Closes leaked descriptors. Otherwise the supervisor would keep files open on behalf of the server.
fn close_inherited_descriptors() {
    // SAFETY: nothing of this process has opened a descriptor yet, so that none that Rust owns is closed.
    unsafe { libc::close_range(3, u32::MAX, 0) };
}

/// Blocks the signals that control the supervisor and opens a descriptor to read them.
pub(crate) fn watch_signals() -> io::Result<OwnedFd> {
    let signals = [
        libc::SIGCHLD,
        libc::SIGTERM,
        libc::SIGUSR1,
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
    ];
    // SAFETY: the set is initialised by `sigemptyset` before it is read; the descriptor is fresh and owned by nobody else.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, signal);
        }
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        match libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Resets the signal state that the server would inherit across exec: ignored signals and the supervisor's mask.
///
/// The calls are raw because libc reserves two signals and would leave them ignored.
pub(crate) fn default_signals() {
    const MASK_BYTES: usize = 8;
    // All zeros: the default action, no flags, nothing blocked; longer than the record of any architecture.
    let zeros = [0_u64; 8];
    let none = std::ptr::null_mut::<u64>();
    // SAFETY: only called between fork and exec, where no handler of this process can run any more; the kernel reads
    // less than `zeros` holds.
    unsafe {
        for signal in 1..=64 {
            libc::syscall(libc::SYS_rt_sigaction, signal, zeros.as_ptr(), none, MASK_BYTES);
        }
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            zeros.as_ptr(),
            none,
            MASK_BYTES,
        );
    }
}

/// Releases the standard streams and the directory. Held here, they would hide that the server has closed or left
/// them.
pub(crate) fn release_streams() {
    let _ = rustix::process::chdir("/");
    let Ok(null) = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")
    else {
        return;
    };
    for stream in 0..=2 {
        // SAFETY: the standard streams are replaced, not closed, so that their numbers stay in use.
        unsafe { libc::dup2(null.as_raw_fd(), stream) };
    }
}
