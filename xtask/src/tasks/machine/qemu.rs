//! Starts QEMU, shows the machine's output and ends the machine in time.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::debian::Files;
use super::initramfs;
use super::report::Seen;
use crate::tasks::say;
use crate::{layout, run};

/// Megabytes.
const MEMORY: u32 = 4096;
const DISK_SIZE: u64 = 8 << 30;
/// More processors make tests no faster.
const MOST_PROCESSORS: usize = 4;
/// Longest start of a kernel with KVM.
const BOOT: Duration = Duration::from_secs(40);
/// Longest start of an emulated kernel.
const BOOT_EMULATED: Duration = Duration::from_secs(300);
/// Interval between checks of the clock and the machine's report.
const PAUSE: Duration = Duration::from_millis(200);
const LINES: usize = 1024;
/// The machine's first output on its second port.
const BOOTED: &str = "booted\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Processor {
    Real,
    Emulated,
}

/// Runs the machine to its end, or for `limit` after its start.
pub fn run(files: &Files, emulate: bool, limit: Duration) -> Result<Seen> {
    let processor = match may_use_kvm() {
        _ if emulate => Processor::Emulated,
        Ok(_) => Processor::Real,
        Err(error) => {
            say(&format!(
                "warning: /dev/kvm: {error}; the processor is emulated, which is about ten times slower"
            ));
            Processor::Emulated
        }
    };
    if let Some(seen) = Running::start(files, processor)?.watch(limit)? {
        return Ok(seen);
    }
    if processor == Processor::Real {
        say(
            "warning: Debian's kernel does not start with this machine's /dev/kvm; the processor is emulated, which is about ten times slower",
        );
        if let Some(seen) = Running::start(files, Processor::Emulated)?.watch(limit)? {
            return Ok(seen);
        }
    }
    bail!(
        "Debian's kernel did not start; see {} and {}",
        log("kernel").display(),
        log("qemu").display()
    )
}

fn may_use_kvm() -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/kvm")
}

fn log(name: &str) -> PathBuf {
    layout::machine().join(format!("{name}.log"))
}

fn statuses() -> PathBuf {
    layout::machine().join("status")
}

/// A QEMU process; dropping it kills and reaps the process.
struct Running {
    child: Child,
    lines: Receiver<String>,
    began: Instant,
    boot: Duration,
}

impl Running {
    fn start(files: &Files, processor: Processor) -> Result<Running> {
        make_disk()?;
        for stale in [log("kernel"), log("qemu"), statuses()] {
            File::create(stale)?;
        }
        let mut command = command(files, processor)?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(log("qemu"))?);
        let mut child = command.spawn().context("cannot start QEMU")?;
        let output = child.stdout.take().context("QEMU has no standard output")?;
        let lines = lines_of(output);
        let boot = match processor {
            Processor::Real => BOOT,
            Processor::Emulated => BOOT_EMULATED,
        };
        Ok(Running {
            child,
            lines,
            began: Instant::now(),
            boot,
        })
    }

    /// Shows the output until QEMU ends or the time is over; `None` if the machine did not start.
    fn watch(self, limit: Duration) -> Result<Option<Seen>> {
        let mut seen = Seen::default();
        let mut booted = false;
        loop {
            match self.lines.recv_timeout(PAUSE) {
                Ok(line) => seen.line(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            booted = booted || fs::read_to_string(statuses())?.starts_with(BOOTED);
            if !booted && self.began.elapsed() > self.boot {
                return Ok(None);
            }
            if self.began.elapsed() > limit {
                seen.stopped = Some(format!(
                    "the machine was ended after {} minutes (`--minutes`)",
                    limit.as_secs() / 60
                ));
                break;
            }
        }
        let reported = fs::read_to_string(statuses())?;
        let is_result = seen.stopped.is_some() || reported.starts_with(BOOTED);
        seen.report(reported);
        Ok(is_result.then_some(seen))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads lines in a thread, because a read has no time limit.
fn lines_of(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = sync_channel(LINES);
    std::thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if sender.send(text).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}

fn disk() -> PathBuf {
    layout::machine().join("data.img")
}

/// Recreates the data disk, with project quotas.
fn make_disk() -> Result<()> {
    File::create(disk())?.set_len(DISK_SIZE)?;
    run::visible(
        Command::new("mke2fs")
            .args([
                "-q",
                "-t",
                "ext4",
                "-O",
                "quota,project",
                "-E",
                "quotatype=prjquota",
            ])
            .arg(disk()),
    )
}

fn command(files: &Files, processor: Processor) -> Result<Command> {
    let mut command = files.qemu();
    match processor {
        Processor::Real => command.args(["-accel", "kvm", "-cpu", "host"]),
        Processor::Emulated => command.args(["-accel", "tcg,thread=multi", "-cpu", "max"]),
    };
    let processors = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MOST_PROCESSORS);
    command
        .args([
            "-machine",
            "q35",
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
        ])
        .args(["-m", &MEMORY.to_string(), "-smp", &processors.to_string()])
        .arg("-kernel")
        .arg(files.kernel())
        .arg("-initrd")
        .arg(initramfs::path())
        .args(["-append", "console=ttyS0 panic=-1"]);
    command
        .arg("-serial")
        .arg(format!("file:{}", escaped(&log("kernel"))?));
    // The first port is a terminal for output; the second carries the statuses.
    command
        .args([
            "-device",
            "virtio-serial",
            "-chardev",
            "stdio,id=output,signal=off",
        ])
        .args(["-device", "virtconsole,chardev=output", "-chardev"])
        .arg(format!("file,id=status,path={}", escaped(&statuses())?))
        .args(["-device", "virtserialport,chardev=status", "-drive"])
        .arg(format!(
            "file={},format=raw,if=virtio,cache=unsafe",
            escaped(&disk())?
        ))
        .args([
            "-fsdev",
            "local,id=host,path=/,security_model=passthrough,readonly=on,multidevs=remap",
        ])
        .args(["-device", "virtio-9p-pci,fsdev=host,mount_tag=host"]);
    Ok(command)
}

/// A path as a value of QEMU's options, in which a comma is doubled.
fn escaped(path: &std::path::Path) -> Result<String> {
    let text = path
        .to_str()
        .with_context(|| format!("{} is not UTF-8", path.display()))?;
    Ok(text.replace(',', ",,"))
}
