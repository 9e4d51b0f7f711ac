//! The processes of one session: measured below its keeper, interrupted at the first of them, ended all at once.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use jail::cgroup::Group;
use jail::keeper::Keeper;
use rustix::event::{PollFd, PollFlags, Timespec};
use sandbox::{Attachment, BoxFuture, Leash, Left, Measured};
use sandbox_process::census;
use sandbox_process::open_files::{self, FileBound};
use sandbox_process::settle::Settling;
use tokio::io::unix::AsyncFd;
use types::{Limit, Limits};

use crate::disk::Disk;
use crate::ground::Ground;
use crate::session::{Directories, SHARED, memory};

/// How long to wait between attempts to remove a group whose processes are still ending.
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);
/// Attempts before a group is left to the next start.
const REMOVAL_ATTEMPTS: u32 = 400;
/// A question that waits for nothing.
const NOW: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// What a session has of this process's, to be given back when it is gone.
#[derive(Debug)]
pub struct Provision {
    pub ground: Arc<Ground>,
    pub user: Option<u32>,
    pub group: Option<Group>,
}

/// Holds one session. Dropping it ends every process of the session and gives back what it used.
#[derive(Debug)]
pub struct LandlockLeash {
    /// Present until it is dropped.
    keeper: Option<Keeper>,
    /// At its end when every process is gone.
    socket: AsyncFd<OwnedFd>,
    /// Numbers of the keeper and of the session's first process.
    kept_by: u32,
    first: u32,
    provision: Option<Provision>,
    directories: Directories,
    disk: Disk,
    /// Bytes and tasks that nothing in the kernel binds; `u64::MAX` where something does.
    most_memory: u64,
    most_tasks: u64,
    last_cpu: Duration,
    peak_memory: u64,
    /// Whether the first process was told to stop.
    is_stopped: bool,
    files: FileBound,
}

impl LandlockLeash {
    /// Takes over a session whose guest has been released.
    pub fn new(
        keeper: Keeper,
        socket: AsyncFd<OwnedFd>,
        first: u32,
        provision: Provision,
        directories: Directories,
        limits: &Limits,
    ) -> Self {
        let grouped = provision.group.is_some();
        let bounded = grouped || provision.user.is_some();
        let kept_by = keeper.pid();
        let own = directories.own().map(|place| directories.at(place)).collect();
        Self {
            socket,
            kept_by,
            first,
            keeper: Some(keeper),
            provision: Some(provision),
            disk: Disk::new(own, kept_by, limits),
            directories,
            most_memory: if grouped { u64::MAX } else { memory(limits) },
            // The keeper is one of them.
            most_tasks: if bounded {
                u64::MAX
            } else {
                u64::from(limits.processes) + 1
            },
            last_cpu: Duration::ZERO,
            peak_memory: 0,
            is_stopped: false,
            files: FileBound::new(limits.file_size),
        }
    }

    /// Stops the first process, kills all others, and counts the threads that remain. Without a pid namespace the others
    /// are killed one by one: what forks faster than that is still there at the deadline.
    async fn end_run(&mut self) -> Result<Left, String> {
        let Some(keeper) = &self.keeper else {
            return Ok(Left::default());
        };
        self.is_stopped = true;
        let settling = Settling::new(self.kept_by, self.first);
        loop {
            // It may just have ended.
            let _ = jail::signal::stop(keeper.guest());
            settling.kill_each();
            if settling.is_over() {
                break;
            }
            settling.pause().await?;
        }
        let threads = census::threads(self.first).saturating_sub(1);
        Ok(Left {
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
        })
    }

    /// A limit that what it has written is over, as far as is known.
    pub fn outgrown(&self) -> Option<Limit> {
        self.disk.exceeded()
    }

    /// Whether every process is gone.
    fn has_ended(&self) -> bool {
        let socket = self.socket.get_ref();
        let mut watched = [PollFd::new(socket, PollFlags::IN)];
        rustix::event::poll(&mut watched, Some(&NOW)).is_ok_and(|ready| ready > 0)
    }

    fn group(&self) -> Option<&Group> {
        self.provision
            .as_ref()
            .and_then(|provision| provision.group.as_ref())
    }

    /// Counts through /proc and remembers: what has ended cannot be counted any more.
    fn count(&mut self) -> census::Census {
        let census = census::take(self.kept_by);
        self.last_cpu = self.last_cpu.max(census.cpu);
        self.peak_memory = self.peak_memory.max(census.memory);
        census
    }

    async fn show(&mut self, files: Vec<Attachment>) -> Result<(), String> {
        let Some(provision) = &self.provision else {
            return Ok(());
        };
        for file in files {
            if self.directories.has(&file) {
                continue;
            }
            if file.target != SHARED {
                return Err(format!(
                    "{}: the backend `landlock` shows a session no further directories once it has started",
                    file.target
                ));
            }
            let failed = |error| format!("{}: show {}: {error}", file.target, file.source.display());
            let (ground, source) = (Arc::clone(&provision.ground), file.source.clone());
            let copied = tokio::task::spawn_blocking(move || ground.trees.copy_of(&source)).await;
            let tree = copied
                .unwrap_or_else(|error| Err(io::Error::other(error)))
                .map_err(failed)?;
            self.directories.show(tree).map_err(failed)?;
        }
        Ok(())
    }
}

impl Leash for LandlockLeash {
    fn interrupt(&self) {
        if let Some(keeper) = &self.keeper {
            // It may just have ended.
            let _ = jail::signal::interrupt(keeper.guest());
        }
    }

    fn kill(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.kill();
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
        census::wants_processor(self.first)
    }

    fn yield_cpu(&mut self, yields: bool) {
        if let Some(group) = self.group() {
            // A group that has just been removed yields to everything.
            let _ = group.yield_cpu(yields);
        }
    }

    fn attach(&mut self, files: Vec<Attachment>) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(self.show(files))
    }

    fn bound_files(&mut self, most: Option<u64>) {
        if !self.has_ended() {
            self.files.set(self.first, most);
        }
    }

    fn unlinked(&mut self, device: u64) -> u64 {
        open_files::unlinked(self.first, device)
    }

    fn memory(&self) -> Option<u64> {
        Some(match self.group() {
            Some(group) => group.memory(),
            None => census::take(self.kept_by).memory,
        })
    }

    fn exceeded(&mut self) -> Option<Limit> {
        if self.group().is_none() {
            let (most_memory, most_tasks) = (self.most_memory, self.most_tasks);
            let found = self.count();
            if found.tasks > most_tasks {
                return Some(Limit::Processes);
            }
            // What was forked shares most of its pages, so too much at first sight may be little.
            if found.memory > most_memory && census::memory_shared_once(self.kept_by) > most_memory {
                return Some(Limit::Memory);
            }
        }
        self.outgrown()
    }

    fn settle(&mut self) -> BoxFuture<'_, Result<Left, String>> {
        Box::pin(self.end_run())
    }

    fn resume(&mut self) {
        if let Some(keeper) = &self.keeper
            && std::mem::take(&mut self.is_stopped)
        {
            // It may just have ended.
            let _ = jail::signal::resume(keeper.guest());
        }
    }

    fn gone(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // The runtime may not have heard yet of an end that others have seen.
            if self.has_ended() {
                return;
            }
            // A socket that cannot be watched any more belongs to no living keeper.
            let _ = self.socket.readable().await;
        })
    }
}

impl Drop for LandlockLeash {
    fn drop(&mut self) {
        self.kill();
        let (Some(keeper), Some(provision)) = (self.keeper.take(), self.provision.take()) else {
            return;
        };
        // Without a runtime the whole process is ending: the keeper ends the session, and the next start cleans up.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let ending = provision.ground.ending.clone();
            ending.spawn_blocking_on(move || give_back(keeper, provision), &runtime);
        }
    }
}

/// Waits for the end of a session and gives back what it had.
pub fn give_back(keeper: Keeper, provision: Provision) {
    keeper.reap();
    let Provision { ground, user, group } = provision;
    ground.give_back(user);
    let Some(group) = group else { return };
    for _ in 0..REMOVAL_ATTEMPTS {
        if group.remove() {
            return;
        }
        std::thread::sleep(REMOVAL_PAUSE);
    }
    tracing::warn!("a control group could not be removed; the next start removes it");
}
