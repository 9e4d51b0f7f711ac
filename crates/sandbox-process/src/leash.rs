//! The processes of one session: measured, interrupted and ended by the pidfd of their first process.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use jail::cgroup::Group;
use jail::spec::ZYGOTE_USER;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Pid;
use sandbox::{Access, Attachment, BoxFuture, Leash, Left, Measured};
use tokio::io::unix::AsyncFd;
use types::Limit;

use crate::attach::{AttachError, Map};
use crate::census;
use crate::open_files::{self, FileBound};
use crate::provisions::Provision;
use crate::settle::Settling;
use crate::station::Station;
use std::sync::Arc;

/// Niceness of a session that nobody waits for.
const LATER: i32 = 10;
/// A question that waits for nothing.
const NOW: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// Holds one session. Dropping it kills every process of the session and gives back what it used.
#[derive(Debug)]
pub struct ProcessLeash {
    process: Option<AsyncFd<OwnedFd>>,
    pid: u32,
    provision: Option<Provision>,
    /// Bytes that no control group binds, with those that it began with: pages of the zygote's.
    most_memory: u64,
    last_cpu: Duration,
    peak_memory: u64,
    /// Whose files it is shown, once that is known.
    map: Option<Map>,
    /// The directories that it sees.
    shown: Vec<Attachment>,
    /// Whether it has a pid namespace of its own; the floor of benchmarks has none.
    has_own_pids: bool,
    /// Whether it was told to stop.
    is_stopped: bool,
    files: FileBound,
    /// A session lives no longer than its zygote; the zygote stays while a session needs it.
    station: Arc<Station>,
}

/// What a session's processes are bound to, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Memory of all of them.
    pub memory: u64,
    /// Each file that they write.
    pub file_size: u64,
}

impl ProcessLeash {
    /// Takes over a session's first process.
    pub fn new(
        process: AsyncFd<OwnedFd>,
        pid: u32,
        provision: Provision,
        bounds: Bounds,
        station: Arc<Station>,
    ) -> Self {
        let most_memory = match provision.group {
            Some(_) => u64::MAX,
            None => bounds.memory.saturating_add(census::memory(pid)),
        };
        Self {
            process: Some(process),
            pid,
            provision: Some(provision),
            most_memory,
            last_cpu: Duration::ZERO,
            peak_memory: 0,
            map: None,
            shown: Vec::new(),
            has_own_pids: true,
            is_stopped: false,
            files: FileBound::new(bounds.file_size),
            station,
        }
    }

    /// It shares the zygote's pid namespace, so what its runs start is left alone.
    pub fn without_own_pids(mut self) -> Self {
        self.has_own_pids = false;
        self
    }

    /// Whether its first process has ended.
    pub fn has_ended(&self) -> bool {
        let Some(process) = &self.process else { return true };
        let mut watched = [PollFd::new(process.get_ref(), PollFlags::IN)];
        rustix::event::poll(&mut watched, Some(&NOW)).is_ok_and(|ready| ready > 0)
    }

    /// Lets everything else go first while it gets ready. Only root can take that back, so others do not.
    pub fn lower_priority(&self) {
        self.prioritise(LATER);
    }

    /// From now on it is as important as everything else.
    pub fn restore_priority(&self) {
        self.prioritise(0);
    }

    fn prioritise(&self, nice: i32) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if rustix::process::geteuid().is_root() && pid.is_some() {
            // It may just have ended.
            let _ = rustix::process::setpriority_process(pid, nice);
        }
    }

    /// Prepares attaching files of `owner`.
    pub async fn map_owner(&mut self, owner: (u32, u32)) -> Result<(), AttachError> {
        let user = self.user();
        self.station.map_owner(owner, user, &mut self.map).await
    }

    /// Shows it directories of the host: those that it does not see yet, and those that it sees through an overlay, which
    /// remembers the names that were looked up.
    pub async fn show(&mut self, files: &[Attachment]) -> Result<(), AttachError> {
        let user = self.user();
        let Some(process) = &self.process else {
            return Ok(());
        };
        let session = process.get_ref().as_fd();
        let is_new = |file: &&Attachment| file.access == Access::ReadOnly || !self.shown.contains(file);
        let new: Vec<&Attachment> = files.iter().filter(is_new).collect();
        self.station.attach(session, user, &mut self.map, &new).await?;
        // What was shown at the same place is hidden now.
        self.shown
            .retain(|old| new.iter().all(|new| new.target != old.target));
        self.shown.extend(new.into_iter().cloned());
        Ok(())
    }

    fn user(&self) -> u32 {
        self.provision.as_ref().map_or(ZYGOTE_USER, Provision::user)
    }

    /// Stops its first process, has all others killed, and counts the threads that remain.
    async fn end_run(&mut self) -> Result<Left, String> {
        let Some(process) = self.process.as_ref().filter(|_| self.has_own_pids) else {
            return Ok(Left::default());
        };
        let process = process.get_ref();
        self.is_stopped = true;
        // It may just have ended.
        let _ = jail::signal::stop(process.as_fd());
        if self.is_alone() {
            return Ok(Left::default());
        }
        let settling = Settling::new(self.pid, self.pid);
        while !settling.is_over() {
            if settling.has_others() {
                self.station.kill_others(process.as_fd()).await?;
            }
            // It may just have ended.
            let _ = jail::signal::stop(process.as_fd());
            settling.pause().await?;
        }
        let threads = census::threads(self.pid).saturating_sub(1);
        Ok(Left {
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
        })
    }

    fn group(&self) -> Option<&Group> {
        self.provision.as_ref()?.group.as_ref()
    }

    /// Whether its first process is the only one, with one thread. With a signal pending that thread cannot fork any more.
    fn is_alone(&self) -> bool {
        match self.group() {
            Some(group) => group.tasks() == 1,
            None => census::threads(self.pid) == 1 && census::children(self.pid).is_empty(),
        }
    }

    /// Counts through /proc and remembers: what has ended cannot be counted any more.
    fn count(&mut self) -> u64 {
        let census = census::take(self.pid);
        self.last_cpu = self.last_cpu.max(census.cpu);
        self.peak_memory = self.peak_memory.max(census.memory);
        census.memory
    }
}

impl Leash for ProcessLeash {
    fn interrupt(&self) {
        if let Some(process) = &self.process {
            // It may just have ended.
            let _ = jail::signal::interrupt(process.get_ref().as_fd());
        }
    }

    fn kill(&self) {
        if let Some(process) = &self.process {
            // As above.
            let _ = jail::signal::kill(process.get_ref().as_fd());
        }
    }

    fn measure(&mut self) -> Measured {
        let Some(usage) = self.group().map(Group::usage) else {
            self.count();
            return Measured {
                cpu: Some(self.last_cpu),
                peak_memory: Some(self.peak_memory),
                out_of_memory: 0,
            };
        };
        Measured {
            cpu: Some(usage.cpu),
            peak_memory: Some(usage.peak_memory),
            out_of_memory: usage.out_of_memory,
        }
    }

    fn wants_processor(&self) -> bool {
        census::wants_processor(self.pid)
    }

    fn yield_cpu(&mut self, yields: bool) {
        if let Some(group) = self.group() {
            // A group that has just been removed yields to everything.
            let _ = group.yield_cpu(yields);
        }
    }

    fn attach(&mut self, files: Vec<Attachment>) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move { self.show(&files).await.map_err(|error| error.to_string()) })
    }

    fn bound_files(&mut self, most: Option<u64>) {
        if !self.has_ended() {
            self.files.set(self.pid, most);
        }
    }

    fn unlinked(&mut self, device: u64) -> u64 {
        open_files::unlinked(self.pid, device)
    }

    fn memory(&self) -> Option<u64> {
        match self.group() {
            Some(group) => Some(group.memory()),
            None => Some(census::take(self.pid).memory),
        }
    }

    fn exceeded(&mut self) -> Option<Limit> {
        let grouped = self.group().is_some();
        let most = self.most_memory;
        // What was forked shares most of its pages, so too much at first sight may be little.
        let exceeded = !grouped && self.count() > most && census::memory_shared_once(self.pid) > most;
        exceeded.then_some(Limit::Memory)
    }

    fn settle(&mut self) -> BoxFuture<'_, Result<Left, String>> {
        Box::pin(self.end_run())
    }

    fn resume(&mut self) {
        if let Some(process) = &self.process
            && std::mem::take(&mut self.is_stopped)
        {
            // It may just have ended.
            let _ = jail::signal::resume(process.get_ref().as_fd());
        }
    }

    fn gone(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Some(process) = &self.process {
                // The runtime may not have heard yet of an end that others have seen.
                if self.has_ended() {
                    return;
                }
                // A descriptor that cannot be watched any more belongs to no living process.
                let _ = process.readable().await;
            }
        })
    }
}

impl Drop for ProcessLeash {
    fn drop(&mut self) {
        self.kill();
        let (Some(process), Some(provision)) = (self.process.take(), self.provision.take()) else {
            return;
        };
        // Without a runtime the whole process is ending; the next start cleans up.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(provision.give_back_after(process));
            // The last session of a zygote that was replaced waits for its end, but not on this thread.
            if Arc::strong_count(&self.station) == 1 {
                let station = Arc::clone(&self.station);
                runtime.spawn_blocking(move || drop(station));
            }
        }
    }
}
