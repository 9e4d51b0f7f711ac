//! The shell of a session: bash, orders to it and its reports.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd, ioctl_fionbio};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

use crate::requests::Requests;
use crate::settings::ShellSettings;

/// Lowest descriptor number for bash's pipes: programs use the low numbers.
const DESCRIPTORS: i32 = 200;
/// Bytes per read.
const CHUNK: usize = 64 * 1024;
/// Longest program, in bytes, that is written after its order. Bash reads a pipe byte by byte, and a file in blocks.
const MOST_HERE: usize = 2048;
/// Maximum length of a report in bytes; longer lines are ignored.
const MAX_REPORT: usize = 256;

/// The shell waits for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Exit status of the last program.
    pub status: u8,
    /// The waiting process. After `exit`, a copy of the shell that ran the program.
    pub shell: Pid,
}

/// A report of the shell.
enum ShellReport {
    Turn(Turn),
    /// A copy of the shell is on standby.
    Copy(Pid),
}

/// The replacement if a program ends the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standby {
    /// A new shell.
    None,
    /// A copy made before the program.
    Copy,
}

/// The shell with its pipes.
pub struct Shell {
    /// The process group of all foreground processes.
    group: Pid,
    current: Pid,
    /// Readable once the current shell has ended.
    ended: OwnedFd,
    /// The standby copy, which takes over if the current shell ends.
    copy: Option<Pid>,
    orders: OwnedFd,
    reports: OwnedFd,
    /// Holds the text of the program.
    text: File,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    incoming: Vec<u8>,
    is_ready: bool,
}

/// The pipe ends that bash inherits.
struct Inherited {
    orders: OwnedFd,
    reports: OwnedFd,
    text: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

impl Shell {
    /// Starts bash, which does not inherit the channel to the host.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn start(settings: &ShellSettings, requests: &Requests, host: BorrowedFd<'_>) -> io::Result<Self> {
        // Programs reach the host through this process only.
        fcntl_setfd(host, FdFlags::CLOEXEC)?;
        let (orders_in, orders) = pipe_with(PipeFlags::CLOEXEC)?;
        let (reports, reports_out) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stdout, stdout_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, stderr_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let text = unnamed_file(requests.temporary())?;
        for own in [&reports, &stdout, &stderr] {
            ioctl_fionbio(own, true)?;
        }
        let inherited = Inherited {
            orders: raised(&orders_in)?,
            reports: raised(&reports_out)?,
            text: raised(&text)?,
            stdout: raised(&stdout_in)?,
            stderr: raised(&stderr_in)?,
        };
        let group = spawn(settings, requests, &inherited)?;
        Ok(Self {
            group,
            current: group,
            ended: pidfd_open(group, PidfdFlags::empty())?,
            copy: None,
            orders,
            reports,
            text,
            stdout,
            stderr,
            incoming: Vec::new(),
            is_ready: false,
        })
    }

    /// The process that runs programs.
    pub fn process(&self) -> Pid {
        self.current
    }

    /// The shell, and its standby copy.
    pub fn processes(&self) -> Vec<Pid> {
        [Some(self.current), self.copy].into_iter().flatten().collect()
    }

    /// Waits until the shell accepts programs.
    ///
    /// # Errors
    /// If the shell ends first.
    pub fn until_ready(&mut self) -> io::Result<()> {
        while !self.is_ready {
            if self.turn()?.is_some() {
                self.is_ready = true;
            } else if self.has_ended() {
                return Err(io::Error::other("bash has ended"));
            } else {
                let mut waiting = [
                    PollFd::new(&self.reports, PollFlags::IN),
                    PollFd::new(&self.ended, PollFlags::IN),
                ];
                retried(|| poll(&mut waiting, None))?;
            }
        }
        Ok(())
    }

    /// Makes the shell enter this directory, for a session with an owner.
    ///
    /// # Errors
    /// If the shell is gone.
    pub fn open(&mut self, directory: &str) -> io::Result<()> {
        self.order(&format!("open {directory}"))
    }

    /// Seeds `RANDOM`.
    ///
    /// # Errors
    /// If the shell is gone.
    pub fn seed(&mut self, seed: u64) -> io::Result<()> {
        // Bash takes 32 bits.
        self.order(&format!("seed {}", seed & 0xffff_ffff))
    }

    /// Sets the clock that a repeated program sees, in milliseconds since 1970.
    ///
    /// # Errors
    /// If the shell is gone.
    pub fn set_clock(&mut self, clock: u64) -> io::Result<()> {
        self.order(&format!("clock {} {:06}", clock / 1_000, clock % 1_000 * 1_000))
    }

    /// Runs a program.
    ///
    /// # Errors
    /// If the shell is gone.
    pub fn run(&mut self, program: &str, standby: Standby) -> io::Result<()> {
        self.copy = None;
        let order = match standby {
            Standby::None => "run",
            Standby::Copy => "run guarded",
        };
        if program.len() > MOST_HERE && self.write_text(program).is_ok() {
            return self.order(&format!("{order} file"));
        }
        self.order(&format!("{order}\n{program}\0"))
    }

    /// Writes a program to the file. Fails on a full file system, or at the file size limit.
    fn write_text(&self, program: &str) -> io::Result<()> {
        self.text.set_len(0)?;
        self.text.write_all_at(program.as_bytes(), 0)?;
        rustix::fs::seek(&self.text, rustix::fs::SeekFrom::Start(0))?;
        Ok(())
    }

    /// Lets the standby copy take over; returns whether there is one.
    ///
    /// # Errors
    /// If the pipe is closed.
    pub fn take_copy(&mut self) -> io::Result<bool> {
        let has_copy = self.copy.take().is_some();
        if has_copy {
            self.order("adopt")?;
        }
        Ok(has_copy)
    }

    fn order(&mut self, order: &str) -> io::Result<()> {
        let mut line = Vec::from(order);
        if !order.ends_with('\0') {
            line.push(b'\n');
        }
        // The shell has reported since the last order, so it reads.
        File::from(self.orders.try_clone()?).write_all(&line)
    }

    /// The next report that has arrived. Ignores other lines, which programs may write.
    ///
    /// # Errors
    /// If the system refuses to read.
    pub fn turn(&mut self) -> io::Result<Option<Turn>> {
        if !self.incoming.contains(&b'\n') {
            let mut chunk = [0; MAX_REPORT];
            match rustix::io::read(&self.reports, &mut chunk) {
                Ok(length) => self.incoming.extend_from_slice(&chunk[..length]),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        while let Some(end) = self.incoming.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.incoming.drain(..=end).collect();
            match parse(&line) {
                Some(ShellReport::Turn(turn)) => {
                    self.follow(turn.shell);
                    return Ok(Some(turn));
                }
                Some(ShellReport::Copy(copy)) => self.copy = Some(copy),
                None => {}
            }
        }
        if self.incoming.len() > MAX_REPORT {
            self.incoming.clear();
        }
        Ok(None)
    }

    /// Makes this copy the current shell.
    fn follow(&mut self, shell: Pid) {
        if shell == self.current {
            return;
        }
        if let Ok(process) = pidfd_open(shell, PidfdFlags::empty()) {
            self.current = shell;
            self.ended = process;
        }
    }

    /// Whether the current shell has ended.
    pub fn has_ended(&self) -> bool {
        let mut ended = [PollFd::new(&self.ended, PollFlags::IN)];
        poll(&mut ended, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Interrupts the shell and its foreground program.
    pub fn interrupt(&self) {
        // A copy belongs to the process group of its original.
        let _ = kill_process_group(self.group, Signal::INT);
    }

    /// Kills the current shell.
    pub fn kill(&self) {
        // The process may have just ended.
        let _ = pidfd_send_signal(&self.ended, Signal::KILL);
    }

    /// Descriptors to poll: reports, the shell's end, and its output.
    pub fn waiting(&self) -> [PollFd<'_>; 4] {
        let [reports, ended] = self.waiting_for_reports();
        [
            reports,
            ended,
            PollFd::new(&self.stdout, PollFlags::IN),
            PollFd::new(&self.stderr, PollFlags::IN),
        ]
    }

    /// Descriptors to poll: reports, and the shell's end.
    pub fn waiting_for_reports(&self) -> [PollFd<'_>; 2] {
        [
            PollFd::new(&self.reports, PollFlags::IN),
            PollFd::new(&self.ended, PollFlags::IN),
        ]
    }
}

/// Starts bash as the leader of a process group.
fn spawn(settings: &ShellSettings, requests: &Requests, inherited: &Inherited) -> io::Result<Pid> {
    use std::os::unix::process::CommandExt as _;

    let Inherited {
        orders,
        reports,
        text,
        stdout,
        stderr,
    } = inherited;
    let kept = [orders, reports, text, stdout, stderr];
    for descriptor in kept {
        fcntl_setfd(descriptor, FdFlags::empty())?;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "the host ends the session with every process in it"
    )]
    let mut command = Command::new(&settings.bash);
    let search = format!("{}:/usr/local/bin:/usr/bin:/bin", settings.programs);
    command
        .args(["--noprofile", "--norc", "program"])
        .args(kept.map(|descriptor| descriptor.as_raw_fd().to_string()))
        .current_dir(&settings.files)
        .env("PATH", search)
        .env("TMPDIR", requests.temporary())
        .env(Requests::VARIABLE, requests.directory())
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::from(stdout.try_clone()?))
        .stderr(Stdio::from(stderr.try_clone()?));
    let child = command.spawn()?;
    let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    process.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Reads `turn STATUS PID` or `copy 0 PID`.
fn parse(line: &[u8]) -> Option<ShellReport> {
    let line = str::from_utf8(line).ok()?;
    let mut words = line.split_whitespace();
    let kind = words.next()?;
    let status = words.next()?.parse().ok()?;
    let shell = Pid::from_raw(words.next()?.parse().ok().filter(|pid| *pid > 1)?)?;
    match (kind, words.next()) {
        ("turn", None) => Some(ShellReport::Turn(Turn { status, shell })),
        ("copy", None) => Some(ShellReport::Copy(shell)),
        _ => None,
    }
}

/// The same file under a high descriptor number, if the limit of open files allows one.
fn raised(descriptor: impl AsFd) -> io::Result<OwnedFd> {
    let raised = fcntl_dupfd_cloexec(&descriptor, DESCRIPTORS);
    Ok(raised.or_else(|_| fcntl_dupfd_cloexec(&descriptor, 0))?)
}

/// An unlinked file in the session's own file system.
fn unnamed_file(directory: &str) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(file.into()),
        Err(Errno::OPNOTSUPP) => {
            let path = Path::new(directory).join(format!(".codeyard-{}", std::process::id()));
            let file = File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&path)?;
            std::fs::remove_file(path)?;
            Ok(file)
        }
        Err(error) => Err(error.into()),
    }
}

/// The available output of a stream; empty if there is none.
pub fn printed(stream: impl AsFd) -> Vec<u8> {
    let mut text = vec![0; CHUNK];
    let read = retried(|| rustix::io::read(&stream, &mut text)).unwrap_or(0);
    text.truncate(read);
    text
}

/// Repeats a call that a signal interrupted.
fn retried<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(u8, i32)>) {
        let number = |pid: Pid| pid.as_raw_nonzero().get();
        let report = parse(line.as_bytes()).map(|report| match report {
            ShellReport::Turn(turn) => (turn.status, number(turn.shell)),
            ShellReport::Copy(copy) => (255, number(copy)),
        });
        assert_eq!(report, expected, "{line:?}");
    }

    #[test]
    fn only_reports_are_reports() {
        check("turn 0 2\n", Some((0, 2)));
        check("turn 130 77\n", Some((130, 77)));
        check("copy 0 77\n", Some((255, 77)));
        for other in [
            "",
            "turn",
            "turn 0",
            "turn 0 1",
            "turn 0 -2",
            "turn 256 2",
            "turn 0 2 3",
            "run 0 2",
            "\u{0}",
        ] {
            check(other, None);
        }
    }
}
