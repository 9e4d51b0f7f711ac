//! The processes of one session: measures the keeper's descendants, interrupts the first process, ends all at once.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jail::cgroup::{CpuPriority, Group};
use jail::keeper::Keeper;
use sandbox::{Attachment, BoxFuture, GuestProcesses, GuestUsage, Leftovers, SHARED};
use sandbox_host::engine_process::EngineProcess;
use sandbox_host::open_files::{self, FileSizeLimit, is_readable};
use sandbox_host::process_tree;
use sandbox_host::run_cleanup::RunCleanup;
use sandbox_host::usage_meter::UsageMeter;
use tokio::io::unix::AsyncFd;
use types::{Language, Limit, Limits};

use crate::disk::DiskMonitor;
use crate::host::HostResources;
use crate::session_files::{SessionFiles, total_memory};
use crate::task_limit::TaskLimit;

/// Time between attempts to remove a group whose processes are still ending.
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);
/// Attempts before the group stays for the next start of codeyard to remove.
const REMOVAL_ATTEMPTS: u32 = 400;

#[derive(Debug)]
pub struct SessionResources {
    pub host: Arc<HostResources>,
    pub user: Option<u32>,
    pub group: Option<Group>,
}

/// The processes of one session. Dropping the value ends them and returns the session's resources.
#[derive(Debug)]
pub struct SessionProcesses {
    /// `None` only during drop.
    keeper: Option<Keeper>,
    /// A read returns end of file when every process has ended.
    socket: AsyncFd<OwnedFd>,
    /// Pids of the keeper and of the session's first process.
    keeper_pid: u32,
    first: u32,
    resources: Option<SessionResources>,
    files: SessionFiles,
    disk: DiskMonitor,
    /// Limit in bytes that only polling enforces; `u64::MAX` if the kernel enforces it.
    polled_memory_limit: u64,
    /// `None` if the kernel counts the tasks.
    polled_tasks: Option<TaskLimit>,
    usage: UsageMeter,
    /// Whether the first process has received SIGSTOP.
    is_stopped: bool,
    /// The engine, once a run has ended, if it is a process of its own.
    engine: Option<EngineProcess>,
    has_engine: bool,
    file_size: FileSizeLimit,
}

impl SessionProcesses {
    pub fn new(
        keeper: Keeper,
        socket: AsyncFd<OwnedFd>,
        first: u32,
        resources: SessionResources,
        files: SessionFiles,
        limits: &Limits,
        language: Language,
    ) -> Self {
        let has_cgroup = resources.group.is_some();
        let kernel_counts_tasks = has_cgroup || resources.user.is_some();
        let keeper_pid = keeper.pid();
        let private = files.private().map(|place| files.at(place)).collect();
        Self {
            socket,
            keeper_pid,
            first,
            keeper: Some(keeper),
            resources: Some(resources),
            disk: DiskMonitor::new(private, keeper_pid, limits),
            files,
            polled_memory_limit: if has_cgroup {
                u64::MAX
            } else {
                total_memory(limits)
            },
            // The keeper counts as a task too.
            polled_tasks: (!kernel_counts_tasks).then(|| TaskLimit::new(u64::from(limits.processes) + 1)),
            usage: UsageMeter::new(keeper_pid, first),
            is_stopped: false,
            engine: None,
            has_engine: language == Language::Shell,
            file_size: FileSizeLimit::new(limits.file_size),
        }
    }

    /// Stops the first process, kills all others, and counts the threads that remain. Without a pid namespace the host
    /// kills the others one by one. Processes that fork faster are still alive at the deadline.
    async fn end_run(&mut self, engine: Option<u32>) -> Result<Leftovers, String> {
        let Some(keeper) = &self.keeper else {
            return Ok(Leftovers::default());
        };
        self.is_stopped = true;
        let mut cleanup = RunCleanup::new(self.keeper_pid, self.first);
        if let Some(number) = engine.filter(|_| self.has_engine)
            && !self
                .engine
                .as_ref()
                .is_some_and(|engine| engine.is_numbered(number))
        {
            self.engine = EngineProcess::of(self.keeper_pid, number);
        }
        if let Some(engine) = &self.engine {
            cleanup = cleanup.keeping(engine.pid);
        }
        loop {
            // The process may have just ended.
            let _ = jail::signal::stop(keeper.guest());
            if let Some(engine) = &self.engine {
                engine.stop();
            }
            cleanup.kill_each();
            if cleanup.is_done() {
                break;
            }
            cleanup.pause().await?;
        }
        Ok(self.usage.leftovers())
    }

    pub fn exceeded_disk(&self) -> Option<Limit> {
        self.disk.exceeded()
    }

    fn has_ended(&self) -> bool {
        is_readable(self.socket.get_ref())
    }

    fn set_cpu_priority(&self, priority: CpuPriority) {
        if let Some(group) = self.group() {
            // The group may have just been removed.
            let _ = group.set_cpu_priority(priority);
        }
    }

    fn group(&self) -> Option<&Group> {
        self.resources
            .as_ref()
            .and_then(|resources| resources.group.as_ref())
    }

    async fn attach_files(&mut self, files: Vec<Attachment>) -> Result<(), String> {
        let Some(resources) = &self.resources else {
            return Ok(());
        };
        for file in files {
            if self.files.has(&file) {
                continue;
            }
            if file.target != SHARED {
                return Err(format!(
                    "{}: the backend `landlock` shows a session no further directories once it has started",
                    file.target
                ));
            }
            let failed = |error| format!("{}: show {}: {error}", file.target, file.source.display());
            let (host, source) = (Arc::clone(&resources.host), file.source.clone());
            let copied = tokio::task::spawn_blocking(move || host.tool_trees.copy_of(&source)).await;
            let tree = copied
                .unwrap_or_else(|error| Err(io::Error::other(error)))
                .map_err(failed)?;
            self.files.show(tree).map_err(failed)?;
        }
        Ok(())
    }
}

impl GuestProcesses for SessionProcesses {
    fn interrupt(&self) {
        if let Some(keeper) = &self.keeper {
            // The process may have just ended.
            let _ = jail::signal::interrupt(keeper.guest());
        }
    }

    fn kill(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.kill();
        }
    }

    fn measure(&mut self) -> GuestUsage {
        let resources = self.resources.as_ref();
        self.usage
            .measure(resources.and_then(|resources| resources.group.as_ref()))
    }

    fn wants_processor(&self) -> bool {
        if self.has_engine {
            // A program that stops may be any process of the session.
            return process_tree::any_wants_processor(self.keeper_pid);
        }
        self.usage.wants_processor()
    }

    fn yield_cpu(&mut self) {
        self.set_cpu_priority(CpuPriority::Idle);
    }

    fn reclaim_cpu(&mut self) {
        self.set_cpu_priority(CpuPriority::Normal);
    }

    fn attach(&mut self, files: Vec<Attachment>) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(self.attach_files(files))
    }

    fn bound_files(&mut self, most: Option<u64>) {
        if !self.has_ended() {
            let engine = || match &self.engine {
                Some(engine) => Some(engine.pid),
                None if self.has_engine => process_tree::children(self.first).first().copied(),
                None => None,
            };
            self.file_size.set(self.first, engine, most);
        }
    }

    fn unlinked(&mut self, device: u64) -> u64 {
        let engine = self.engine.as_ref();
        let held = engine.map_or(0, |engine| open_files::unlinked_on(engine.pid, device));
        self.usage.unlinked(device).saturating_add(held)
    }

    fn memory(&self) -> Option<u64> {
        Some(self.usage.memory(self.group()))
    }

    fn exceeded(&mut self) -> Option<Limit> {
        if self.group().is_none() {
            let polled = self.usage.poll();
            let tasks = self.polled_tasks.as_ref();
            if tasks.is_some_and(|limit| limit.is_exceeded(polled.tasks, Instant::now())) {
                return Some(Limit::Processes);
            }
            if self.usage.exceeds_memory(&polled, self.polled_memory_limit) {
                return Some(Limit::Memory);
            }
        }
        self.exceeded_disk()
    }

    fn settle(&mut self, engine: Option<u32>) -> BoxFuture<'_, Result<Leftovers, String>> {
        Box::pin(self.end_run(engine))
    }

    fn resume(&mut self) {
        if let Some(keeper) = &self.keeper
            && std::mem::take(&mut self.is_stopped)
        {
            if let Some(limit) = &mut self.polled_tasks {
                limit.begin_run(process_tree::zombies(self.keeper_pid), Instant::now());
            }
            if let Some(engine) = &self.engine {
                engine.resume();
            }
            // The process may have just ended.
            let _ = jail::signal::resume(keeper.guest());
        }
    }

    fn gone(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // The runtime may not have noticed the end yet.
            if self.has_ended() {
                return;
            }
            // If watching fails, the keeper is gone.
            let _ = self.socket.readable().await;
        })
    }
}

impl Drop for SessionProcesses {
    fn drop(&mut self) {
        self.kill();
        let (Some(keeper), Some(resources)) = (self.keeper.take(), self.resources.take()) else {
            return;
        };
        // Without a runtime the whole process is ending. The keeper ends the session, and the next start cleans up.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let ending = resources.host.ending.clone();
            ending.spawn_blocking_on(move || give_back(keeper, resources), &runtime);
        }
    }
}

/// Waits for the end of a session, then returns its resources.
pub fn give_back(keeper: Keeper, resources: SessionResources) {
    keeper.reap();
    let SessionResources { host, user, group } = resources;
    host.return_user(user);
    let Some(group) = group else { return };
    for _ in 0..REMOVAL_ATTEMPTS {
        if group.remove() {
            return;
        }
        std::thread::sleep(REMOVAL_PAUSE);
    }
    tracing::warn!("a control group could not be removed; the next start removes it");
}
