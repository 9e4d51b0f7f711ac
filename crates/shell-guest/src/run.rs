//! One program, from its text to its end.

use std::io;
use std::time::{Duration, Instant};

use guest_session::{Channel, Copies, Frame, Limits, Output, RunFrame, Written};
use jail::own_zygote;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;
use serde_json::{Value, json};
use types::FoundCalls;

use crate::calls;
use crate::processes;
use crate::session::{RESULTS, SCRATCH, ShellSession, WORKSPACE};
use crate::shell::{Shell, Standby, Turn, printed};

/// Polls after an interrupt without a report of the shell: until the remaining programs are killed, and until the
/// shell is killed. Polls are counted, not timed, because a busy machine delays the shell as well as this process.
const KILL_PROGRAMS: u32 = 2;
const KILL_SHELL: u32 = 5;
/// Longest such poll, in nanoseconds.
const URGING: i64 = 5_000_000;
/// Chunks of 64 KiB that are read of a stream at once: the largest pipe, 1 MiB. A program that prints faster than it is
/// read would otherwise keep the host's interrupt waiting.
const READS: u32 = 16;
/// The same after an interrupt, when each chunk may wait for a busy host.
const READS_OF_STOPPED: u32 = 1;
/// Time limit for a copy of the shell to take over.
const TAKING_OVER: Duration = Duration::from_secs(2);
/// Error kind of an interrupted program; the host knows the reason.
const INTERRUPTED: &str = "KeyboardInterrupt";
/// Words of programs that may end the shell without its EXIT trap, or set their own.
const GUARDED: [&str; 4] = ["exec", "trap", "kill", "enable"];
/// Exit status of a killed shell whose own status is unknown.
const KILLED: u8 = 137;

/// How a program ended.
struct ProgramEnd {
    status: u8,
    /// Lost state of the session, for the program's author.
    lost: Option<&'static str>,
}

/// A run under way.
struct ProgramRun<'a> {
    session: &'a mut ShellSession,
    channel: &'a Channel,
    output: Output,
    stopping: Stopping,
}

/// Progress of an interruption.
#[derive(Debug, Clone, Copy)]
enum Stopping {
    No,
    /// Number of polls without a report since the interrupt.
    Interrupted(u32),
}

/// Runs a program and returns the frame that reports its end.
///
/// # Errors
/// If the host is gone, or no shell starts.
pub fn run(
    session: &mut ShellSession,
    channel: &Channel,
    frame: &RunFrame,
    limits: Limits,
) -> io::Result<Vec<u8>> {
    own_zygote::forget_interrupt();
    let mut report = json!({"t": "done", "id": frame.id});
    if frame.code.contains('\0') {
        report["error"] = error("SyntaxError", "the program contains a NUL byte", None);
        return finish(session, report);
    }
    session.has_other_mcp |= calls::has_other_meaning(&frame.code);
    let found = match session.has_other_mcp {
        true => FoundCalls::default(),
        false => calls::find(&frame.code),
    };
    if guest_session::is_refused(channel, &found, &own_zygote::is_interrupted)? {
        report["error"] = guest_session::refused();
        return finish(session, report);
    }
    let written = Written::since_now(roots(session));
    if GUARDED.iter().any(|word| frame.code.contains(word)) {
        session.standby = Standby::Copy;
    }
    // A full file system cannot hold a FIFO; then `mcp` reports the missing FIFO.
    let _ = session.requests.begin(limits.concurrent_calls);
    let mut run = ProgramRun {
        output: Output::new(Copies {
            results: session.places.actual(RESULTS).to_owned(),
            prefix: "sh",
        }),
        session,
        channel,
        stopping: Stopping::No,
    };
    run.output.begin(frame.id, limits.output);
    let ended = run.whole(frame)?;
    let copied = run.output.copied();
    if !copied.is_empty() {
        report["copied"] = json!(copied);
    }
    let files = written.files();
    if !files.is_empty() {
        report["files"] = json!(files);
    }
    if run.is_stopped() {
        report["error"] = error(INTERRUPTED, "the run was interrupted", None);
    } else if ended.status != 0 {
        let message = format!("the program exited with status {}", ended.status);
        report["error"] = error("SystemExit", &message, Some(ended.status));
    }
    finish(session, report)
}

/// The final frame, with the process that the host keeps between runs.
fn finish(session: &ShellSession, mut report: Value) -> io::Result<Vec<u8>> {
    if let Some(shell) = &session.shell {
        report["engine"] = shell.process().as_raw_nonzero().get().into();
    }
    Ok(serde_json::to_vec(&report)?)
}

fn error(kind: &str, message: &str, exit: Option<u8>) -> Value {
    json!({"kind": kind, "message": message, "traceback": "", "exit": exit})
}

/// The directories whose files a run reports: documented and real path.
fn roots(session: &ShellSession) -> Vec<(String, String)> {
    let root = |path: &str| (path.to_owned(), session.places.actual(path).to_owned());
    [WORKSPACE, RESULTS, SCRATCH].map(root).into()
}

impl ProgramRun<'_> {
    /// Executes the whole run: afterwards only the shell is left, waiting for the next program.
    fn whole(&mut self, frame: &RunFrame) -> io::Result<ProgramEnd> {
        let standby = self.session.standby;
        let seeded = self.session.seeded;
        let shell = self.session.shell(self.channel)?;
        // Drop reports and output of earlier runs.
        while shell.turn()?.is_some() {}
        while !printed(&shell.stdout).is_empty() || !printed(&shell.stderr).is_empty() {}
        if let Some(inputs) = &frame.inputs {
            if seeded != Some(shell.process()) {
                shell.seed(inputs.seed)?;
            }
            if inputs.reads.is_some() {
                shell.set_clock(inputs.clock)?;
            }
        }
        shell.run(&frame.code, standby)?;
        if frame.inputs.is_some() {
            self.session.seeded = self.session.shell.as_ref().map(Shell::process);
        }
        let ended = self.until_ended()?;
        let kept: Vec<Pid> = self.session.shell.iter().map(Shell::process).collect();
        processes::kill_others(&kept);
        self.print(READS);
        self.session.requests.end();
        if let Some(lost) = ended.lost {
            self.output.write(2, format!("codeyard: {lost}\n").as_bytes());
        }
        Ok(ended)
    }

    /// Serves the program until its shell waits for the next program.
    fn until_ended(&mut self) -> io::Result<ProgramEnd> {
        loop {
            let Some(shell) = &mut self.session.shell else {
                return Err(io::ErrorKind::NotFound.into());
            };
            if let Some(Turn { status, .. }) = shell.turn()? {
                return Ok(ProgramEnd { status, lost: None });
            }
            if shell.has_ended() {
                // The last report may have arrived meanwhile.
                if let Some(Turn { status, .. }) = shell.turn()? {
                    return Ok(ProgramEnd { status, lost: None });
                }
                return self.replace();
            }
            self.print(match self.is_stopped() {
                true => READS_OF_STOPPED,
                false => READS,
            });
            self.exchange()?;
            self.stop();
            self.wait()?;
        }
    }

    /// Whether the host has asked the program to stop.
    fn is_stopped(&self) -> bool {
        !matches!(self.stopping, Stopping::No)
    }

    /// Forwards requests to the host, and answers to programs.
    fn exchange(&mut self) -> io::Result<()> {
        let requests = &mut self.session.requests;
        while let Some(frame) = self.channel.next()? {
            if let Frame::Reply(reply) = frame {
                requests.reply(&reply);
            }
        }
        requests.flush();
        for call in requests.take() {
            self.channel.push(&call);
        }
        self.channel.flush()
    }

    /// Interrupts the program if the host has requested it.
    fn stop(&mut self) {
        if self.is_stopped() || !own_zygote::is_interrupted() {
            return;
        }
        if let Some(shell) = &self.session.shell {
            shell.interrupt();
        }
        self.stopping = Stopping::Interrupted(0);
    }

    /// Escalates an interruption after a poll without a report.
    fn urge(&mut self) {
        let (Some(shell), Stopping::Interrupted(waits)) = (&self.session.shell, &mut self.stopping) else {
            return;
        };
        *waits += 1;
        match *waits {
            KILL_PROGRAMS => processes::kill_programs(&shell.processes()),
            KILL_SHELL.. => shell.kill(),
            _ => {}
        }
    }

    /// Replaces a shell that ended without a report: by its copy, or by a new shell.
    fn replace(&mut self) -> io::Result<ProgramEnd> {
        let Some(mut shell) = self.session.shell.take() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let status = processes::reap_for(shell.process()).unwrap_or(KILLED);
        if take_over(&mut shell)? {
            self.session.shell = Some(shell);
            let lost = "the program ended the shell: variables, functions and the directory are those from before it";
            return Ok(ProgramEnd {
                status,
                lost: Some(lost),
            });
        }
        drain(&mut self.output, &shell, READS);
        processes::kill_others(&[]);
        self.session.standby = Standby::None;
        self.session.has_other_mcp = false;
        self.session.shell(self.channel)?;
        Ok(ProgramEnd {
            status,
            lost: Some("the program ended the shell: its variables, functions and directory are gone"),
        })
    }

    /// Forwards the program's output, at most `reads` chunks of each stream.
    fn print(&mut self, reads: u32) {
        if let Some(shell) = &self.session.shell {
            drain(&mut self.output, shell, reads);
        }
    }

    /// Waits for the host, the shell, its output, requests, or a signal.
    fn wait(&mut self) -> io::Result<()> {
        let ready = self.poll()?;
        if ready == 0 {
            self.urge();
        }
        Ok(())
    }

    /// The number of ready descriptors; 1 after a signal.
    fn poll(&self) -> io::Result<usize> {
        let Some(shell) = &self.session.shell else {
            return Ok(1);
        };
        let longest = Timespec {
            tv_sec: 0,
            tv_nsec: URGING,
        };
        // Endless output and requests would put off the escalation: they are served after each poll.
        let (mut waiting, longest) = match self.is_stopped() {
            true => (shell.waiting_for_reports().to_vec(), Some(&longest)),
            false => (self.waiting(shell), None),
        };
        match poll(&mut waiting, longest) {
            Err(Errno::INTR) => Ok(1),
            ready => Ok(ready?),
        }
    }

    /// Descriptors of all that a program may cause.
    fn waiting<'a>(&'a self, shell: &'a Shell) -> Vec<PollFd<'a>> {
        let mut waiting = vec![PollFd::from_borrowed_fd(self.channel.as_fd(), PollFlags::IN)];
        waiting.extend(shell.waiting());
        waiting.extend(self.session.requests.waiting());
        waiting
    }
}

/// Lets the standby copy become the shell; returns whether it reported in time.
fn take_over(shell: &mut Shell) -> io::Result<bool> {
    if !shell.take_copy()? {
        return Ok(false);
    }
    let deadline = Instant::now() + TAKING_OVER;
    while Instant::now() < deadline {
        if shell.turn()?.is_some() {
            return Ok(true);
        }
        let mut waiting = shell.waiting();
        let longest = Timespec {
            tv_sec: 0,
            tv_nsec: 10_000_000,
        };
        // A signal only ends the wait.
        let _ = poll(&mut waiting[..1], Some(&longest));
    }
    Ok(false)
}

/// Forwards the available output of a shell, at most `reads` chunks of each stream.
fn drain(output: &mut Output, shell: &Shell, reads: u32) {
    for (descriptor, stream) in [(1, &shell.stdout), (2, &shell.stderr)] {
        for _ in 0..reads {
            let text = printed(stream);
            if text.is_empty() {
                break;
            }
            output.write(descriptor, &text);
        }
    }
}
