//! The process of one server under its supervisor: starts it, waits for its end, and stops it.

use std::ffi::OsString;
use std::process::{self, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use jail::supervise::{self, Terms};
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::time::timeout;

use crate::control_groups::ControlGroup;
use crate::definition::Stdio;
use crate::environment::Environment;
use crate::error::StartError;
use crate::logs::Log;
use crate::secrets::Secrets;
use crate::stderr::Stderr;

/// Longest wait after each step: closing stdin, SIGTERM, killing all processes.
const STEP: Duration = Duration::from_millis(1500);
/// If signal n killed the process, the supervisor exits with this status plus n.
const SIGNAL_BASE: i32 = 128;

/// Dropping it kills the process and all its descendants.
#[derive(Debug)]
pub struct Process {
    child: Child,
    pub(crate) stderr: Arc<Stderr>,
    group: Option<Box<ControlGroup>>,
}

/// Our ends of the server's pipes.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdin: pipe::Sender,
    pub(crate) stdout: pipe::Receiver,
}

/// Starts the process, in its control group if it has one.
pub(crate) fn start(
    server: &Stdio,
    environment: &Environment,
    supervisor: &[OsString],
    group: Option<ControlGroup>,
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
        groups: group.as_ref().map(ControlGroup::directories).unwrap_or_default(),
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
        group: group.map(Box::new),
    };
    let stdin = stdin
        .into_owned_fd()
        .and_then(pipe::Sender::from_owned_fd)
        .map_err(failed)?;
    let stdout = stdout
        .into_owned_fd()
        .and_then(pipe::Receiver::from_owned_fd)
        .map_err(failed)?;
    Ok((process, Streams { stdin, stdout }))
}

// === impl Process ===

impl Process {
    /// The supervisor's id; the server is its only child.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the end of the process and all its descendants, and describes it. Safe to cancel.
    pub(crate) async fn ended(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => describe(status) + &self.exceeded_limit(),
            Err(error) => format!("ended in a way that could not be read ({error})"),
        }
    }

    fn exceeded_limit(&self) -> String {
        self.group
            .as_ref()
            .map(|group| group.exceeded_limit())
            .unwrap_or_default()
    }

    /// Stops the process, whose stdin is already closed, and all its descendants. Describes how it ended.
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

    pub(crate) async fn kill(&mut self) -> String {
        self.signal(Signal::USR1);
        match timeout(STEP, self.ended()).await {
            Ok(end) => end,
            Err(_elapsed) => self.stop().await,
        }
    }

    pub(crate) async fn release(mut self) {
        if let Some(group) = self.group.take() {
            // The kernel's files may block. If the removal fails, the next start removes the group.
            let _ = tokio::task::spawn_blocking(move || drop(group)).await;
        }
    }

    fn signal(&self, signal: Signal) {
        // `id` is `None` once the process was waited for, so the number never belongs to another process.
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
        if let (Some(group), Ok(runtime)) = (self.group.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn_blocking(move || drop(group));
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
