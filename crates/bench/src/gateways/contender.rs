//! A gateway in front of upstream servers: its start, readiness, memory and CPU time.

use std::any::Any;
use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use super::load::{LoadClient, LoadTarget};
use super::upstream::TOOL;
use crate::processes;

/// Longest start of a gateway.
const PATIENCE: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(5);
/// Longest end of a gateway before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// A gateway that is set up, and may run.
pub struct GatewayRival {
    pub name: String,
    /// Upstream servers behind it.
    pub upstreams: usize,
    pub targets: Vec<LoadTarget>,
    start: Option<Box<dyn Fn() -> Result<Command>>>,
    log: PathBuf,
    process: Option<RivalProcess>,
    /// Directories and servers that must live as long.
    _kept: Box<dyn Any>,
}

/// A process and its children; dropping the value ends them.
struct RivalProcess(Child);

// === impl GatewayRival ===

impl GatewayRival {
    /// A gateway that this command starts.
    pub fn new(
        name: &str,
        upstreams: usize,
        start: impl Fn() -> Result<Command> + 'static,
        log: PathBuf,
        kept: impl Any,
    ) -> GatewayRival {
        GatewayRival {
            name: name.to_owned(),
            upstreams,
            targets: Vec::new(),
            start: Some(Box::new(start)),
            log,
            process: None,
            _kept: Box::new(kept),
        }
    }

    /// Servers that run already, and are reached without a gateway.
    pub fn direct(name: &str, targets: Vec<LoadTarget>) -> GatewayRival {
        GatewayRival {
            name: name.to_owned(),
            upstreams: targets.len(),
            targets,
            start: None,
            log: PathBuf::new(),
            process: None,
            _kept: Box::new(()),
        }
    }

    /// Starts the process.
    pub fn spawn(&mut self) -> Result<()> {
        let Some(start) = &self.start else {
            return Ok(());
        };
        let log = File::create(&self.log)?;
        let mut command = start()?;
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        let program = command.get_program().to_owned();
        let child = command.spawn();
        let child = child.with_context(|| format!("start {}", program.display()))?;
        self.process = Some(RivalProcess(child));
        Ok(())
    }

    /// Starts the process; the time until a client has listed the tools of all upstream servers.
    pub async fn start(&mut self) -> Result<Duration> {
        let begun = Instant::now();
        self.spawn()?;
        let expected = if self.start.is_some() { self.upstreams } else { 1 };
        let target = self.targets.first().context("a target")?.clone();
        self.wait_for(async || match LoadClient::open(&target).await {
            Ok(mut client) => client.find_tools(TOOL).await.is_ok_and(|found| found == expected),
            Err(_) => false,
        })
        .await?;
        Ok(begun.elapsed())
    }

    /// Waits for a condition of the running process.
    pub async fn wait_for(&mut self, mut is_met: impl AsyncFnMut() -> bool) -> Result<()> {
        let begun = Instant::now();
        while !is_met().await {
            let ended = self.process.as_mut().map(|process| process.0.try_wait());
            if let Some(Ok(Some(status))) = ended {
                bail!("{} ended ({status}): {}", self.name, self.last_words());
            }
            if begun.elapsed() > PATIENCE {
                bail!("{} is not ready: {}", self.name, self.last_words());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    pub fn stop(&mut self) {
        self.process = None;
    }

    /// Bytes of its processes.
    pub fn memory(&self) -> Option<f64> {
        self.pid().map(processes::proportional_memory)
    }

    /// Processor time of its processes so far.
    pub fn processor_time(&self) -> Option<Duration> {
        self.pid().map(processes::processor_time)
    }

    fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.0.id())
    }

    fn last_words(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for RivalProcess {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        let Some(group) = group else {
            return;
        };
        // The processes may have ended already.
        let _ = kill_process_group(group, Signal::TERM);
        let begun = Instant::now();
        while begun.elapsed() < GRACE && matches!(self.0.try_wait(), Ok(None)) {
            std::thread::sleep(PAUSE);
        }
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.0.wait();
    }
}

/// An address on a port that was free a moment ago.
pub fn free_address() -> Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}
