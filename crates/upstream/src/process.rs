//! One upstream process under its supervisor: how it is started, how it ended, how it is made to end.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::process::{self, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use jail::supervise::{self, Terms};
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::time::timeout;

use crate::config::Stdio;
use crate::environment::Environment;
use crate::error::StartError;
use crate::groups::Bound;
use crate::logs::Log;
use crate::secrets::Secrets;
use crate::stderr::Stderr;

/// How long each step of stopping may take: after stdin is closed, after SIGTERM, after everything was killed.
const STEP: Duration = Duration::from_millis(1500);
/// A process that was killed by signal n exits its supervisor with this plus n.
const SIGNAL_BASE: i32 = 128;

/// A running server. Dropping it kills the server and everything that it started.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pub(crate) stderr: Arc<Stderr>,
    bound: Option<Box<Bound>>,
}

/// The ends of the pipes to a server.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdin: pipe::Sender,
    pub(crate) stdout: pipe::Receiver,
}

/// Starts the server of a definition, in the control group of its limits if there is one.
pub(crate) fn start(
    server: &Stdio,
    environment: &Environment,
    supervisor: &[OsString],
    bound: Option<Bound>,
    secrets: Arc<Secrets>,
    log: Option<Log>,
) -> Result<(Process, Streams), StartError> {
    let program = environment.program(server)?;
    if let Some(cwd) = server.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return Err(StartError::WorkingDirectory {
            cwd: cwd.display().to_string(),
        });
    }
    let failed = |error: std::io::Error| StartError::Spawn {
        command: server.command.clone(),
        cause: error.to_string(),
    };
    let terms = Terms {
        groups: bound.as_ref().map(Bound::directories).unwrap_or_default(),
        confinement: server.sandbox.clone(),
    };
    let command = supervise::command(supervisor, &terms, program.as_os_str(), &server.args);
    let mut command = command.map_err(failed)?;
    command.env_clear().envs(environment.for_server(server));
    command
        .stdin(process::Stdio::piped())
        .stdout(process::Stdio::piped())
        .stderr(process::Stdio::piped());
    if let Some(cwd) = &server.cwd {
        command.current_dir(cwd);
    }
    let mut child = tokio::process::Command::from(command).spawn().map_err(failed)?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
    };
    if let Some(log) = &log {
        log.note("started");
    }
    let process = Process {
        child,
        stderr: Stderr::keep(stderr, secrets, log),
        bound: bound.map(Box::new),
    };
    let stdin = stdin.into_owned_fd().and_then(sender).map_err(failed)?;
    let stdout = stdout.into_owned_fd().and_then(receiver).map_err(failed)?;
    Ok((process, Streams { stdin, stdout }))
}

fn sender(pipe: OwnedFd) -> std::io::Result<pipe::Sender> {
    pipe::Sender::from_owned_fd(pipe)
}

fn receiver(pipe: OwnedFd) -> std::io::Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(pipe)
}

// === impl Process ===

impl Process {
    /// The supervisor's number; the server is its only child.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until the server and everything that it started are gone; says how it ended. Safe to cancel.
    pub(crate) async fn ended(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => describe(status) + &self.remark(),
            Err(error) => format!("ended in a way that could not be read ({error})"),
        }
    }

    /// What its limits had to do with its end.
    fn remark(&self) -> String {
        self.bound
            .as_ref()
            .map(|bound| bound.remark())
            .unwrap_or_default()
    }

    /// Ends the server, whose stdin is already closed, and everything that it started; says how it ended.
    pub(crate) async fn stop(&mut self) -> String {
        for next in [Some(Signal::TERM), Some(Signal::USR1), Some(Signal::KILL), None] {
            if let Ok(end) = timeout(STEP, self.ended()).await {
                return end;
            }
            if let Some(signal) = next {
                self.signal(signal);
            }
        }
        "did not end, even when it was killed".to_owned()
    }

    /// Ends it without asking first.
    pub(crate) async fn kill(&mut self) -> String {
        self.signal(Signal::USR1);
        match timeout(STEP, self.ended()).await {
            Ok(end) => end,
            Err(_elapsed) => self.stop().await,
        }
    }

    /// Removes its control group, after its end; with the last one goes the parent, which takes a while.
    pub(crate) async fn release(mut self) {
        if let Some(bound) = self.bound.take() {
            // Nothing is lost if it fails: the next start removes what is left.
            let _ = tokio::task::spawn_blocking(move || drop(bound)).await;
        }
    }

    fn signal(&self, signal: Signal) {
        // The number is only known while the process has not been waited for, so that it cannot belong to another.
        let pid = self
            .child
            .id()
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::USR1);
        if let (Some(bound), Ok(runtime)) = (self.bound.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn_blocking(move || drop(bound));
        }
    }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) if code > SIGNAL_BASE && code <= SIGNAL_BASE + 64 => {
            format!("was ended by {}", signal_name(code - SIGNAL_BASE))
        }
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was ended by {}", signal_name(signal)),
        (None, None) => "ended".to_owned(),
    }
}

fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}
