//! The processes of one session: measures, interrupts and ends them by the first process's pidfd.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use jail::cgroup::{CpuPriority, Group};
use jail::spec::ZYGOTE_USER;
use rustix::process::Pid;
use sandbox::{Attachment, AttachmentAccess, BoxFuture, GuestProcesses, GuestUsage, Leftovers};
use sandbox_host::open_files::{self, FileSizeLimit, is_readable};
use sandbox_host::process_tree;
use sandbox_host::run_cleanup::RunCleanup;
use sandbox_host::usage_meter::UsageMeter;
use tokio::io::unix::AsyncFd;
use tokio::task::yield_now;
use types::Limit;

use crate::attach::{AttachError, OwnerMap};
use crate::resources::SessionResources;
use crate::zygote::Zygote;
use sandbox_host::engine_process::{EngineProcess, FIRST_ENGINE};

/// Niceness of a session that is prepared in the background.
const LOW_PRIORITY: i32 = 10;
/// Looks at processes that have to stop, without a pause between them.
const STOPPING: u32 = 20;

/// The processes of one session. Dropping the value kills them and returns the session's resources.
#[derive(Debug)]
pub struct SessionProcesses {
    process: Option<AsyncFd<OwnedFd>>,
    pid: u32,
    resources: Option<SessionResources>,
    /// Memory limit in bytes that applies without a control group. It includes the zygote's pages that the session
    /// started with.
    polled_memory_limit: u64,
    usage: UsageMeter,
    /// Set once files are attached.
    owner_map: Option<OwnerMap>,
    attached: Vec<Attachment>,
    /// Whether the session has its own pid namespace. Unconfined guests have none.
    has_pid_namespace: bool,
    /// The engine, once a run has ended, if it is a process of its own.
    engine: Option<EngineProcess>,
    /// Whether the first process has received SIGSTOP.
    is_stopped: bool,
    file_size: FileSizeLimit,
    /// Keeps the zygote alive: a session ends with its zygote.
    zygote: Arc<Zygote>,
}

#[derive(Debug, Clone, Copy)]
pub struct ByteLimits {
    /// Memory of all processes together.
    pub memory: u64,
    /// Size of each written file.
    pub file_size: u64,
}

impl SessionProcesses {
    pub fn new(
        process: AsyncFd<OwnedFd>,
        pid: u32,
        resources: SessionResources,
        limits: ByteLimits,
        zygote: Arc<Zygote>,
    ) -> Self {
        let polled_memory_limit = match resources.group {
            Some(_) => u64::MAX,
            None => limits.memory.saturating_add(process_tree::memory(pid)),
        };
        Self {
            process: Some(process),
            pid,
            resources: Some(resources),
            polled_memory_limit,
            usage: UsageMeter::new(pid, pid),
            owner_map: None,
            attached: Vec::new(),
            has_pid_namespace: true,
            engine: None,
            is_stopped: false,
            file_size: FileSizeLimit::new(limits.file_size),
            zygote,
        }
    }

    /// The session shares the zygote's pid namespace, so processes that its runs start are not killed.
    pub fn without_pid_namespace(mut self) -> Self {
        self.has_pid_namespace = false;
        self
    }

    pub fn has_ended(&self) -> bool {
        self.process
            .as_ref()
            .is_none_or(|process| is_readable(process.get_ref()))
    }

    /// Gives every other process priority while the session is prepared. Only root can restore the priority, so only
    /// root lowers it.
    pub fn lower_priority(&self) {
        self.set_niceness(LOW_PRIORITY);
    }

    pub fn restore_priority(&self) {
        self.set_niceness(0);
    }

    /// Also of what the first process has started: an engine or a shell keeps the niceness that it was started with.
    fn set_niceness(&self, nice: i32) {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        process_tree::for_each(self.pid, |process| {
            let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
            if pid.is_some() {
                // The process may have just ended.
                let _ = rustix::process::setpriority_process(pid, nice);
            }
        });
    }

    pub async fn map_owner(&mut self, owner: (u32, u32)) -> Result<(), AttachError> {
        let user = self.user();
        self.zygote.map_owner(owner, user, &mut self.owner_map).await
    }

    /// Attaches directories that the session does not see yet. Attaches directories behind an overlay again, because
    /// the overlay caches names.
    pub async fn attach_files(&mut self, files: &[Attachment]) -> Result<(), AttachError> {
        let user = self.user();
        let Some(process) = &self.process else {
            return Ok(());
        };
        let session = process.get_ref().as_fd();
        let is_new =
            |file: &&Attachment| file.access == AttachmentAccess::ReadOnly || !self.attached.contains(file);
        let new: Vec<&Attachment> = files.iter().filter(is_new).collect();
        self.zygote
            .attach(session, user, &mut self.owner_map, &new)
            .await?;
        // A new directory hides the previous one at the same target.
        self.attached
            .retain(|old| new.iter().all(|new| new.target != old.target));
        self.attached.extend(new.into_iter().cloned());
        Ok(())
    }

    fn user(&self) -> u32 {
        self.resources
            .as_ref()
            .map_or(ZYGOTE_USER, SessionResources::user)
    }

    /// Stops the first process and the engine, kills all others, and counts the threads that remain.
    async fn end_run(&mut self, engine: Option<u32>) -> Result<Leftovers, String> {
        let Some(process) = self.process.as_ref().filter(|_| self.has_pid_namespace) else {
            return Ok(Leftovers::default());
        };
        let process = process.get_ref();
        self.is_stopped = true;
        // The process may have just ended.
        let _ = jail::signal::stop(process.as_fd());
        if self.is_alone() {
            return Ok(Leftovers::default());
        }
        if self.zygote.greeting.has_engine {
            return self.end_run_of_engine(engine.unwrap_or(FIRST_ENGINE)).await;
        }
        let cleanup = RunCleanup::new(self.pid, self.pid);
        while !cleanup.is_done() {
            if cleanup.has_others() {
                self.zygote.kill_others(process.as_fd()).await?;
            }
            // The process may have just ended.
            let _ = jail::signal::stop(process.as_fd());
            cleanup.pause().await?;
        }
        Ok(self.usage.leftovers())
    }

    /// Stops the first process and the engine, and kills all others one by one. Processes that fork faster are still
    /// alive at the deadline.
    async fn end_run_of_engine(&mut self, number: u32) -> Result<Leftovers, String> {
        if !self
            .engine
            .as_ref()
            .is_some_and(|engine| engine.is_numbered(number))
        {
            self.engine = EngineProcess::of(self.pid, number);
        }
        let mut cleanup = RunCleanup::new(self.pid, self.pid);
        if let Some(engine) = &self.engine {
            cleanup = cleanup.keeping(engine.pid);
        }
        for attempt in 0.. {
            if let Some(engine) = &self.engine {
                engine.stop();
            }
            if self.has_only_kept() {
                break;
            }
            cleanup.kill_each();
            if cleanup.is_done() {
                break;
            }
            // Processes that only have to stop do so at once, but may need this processor for it: otherwise the kernel
            // leaves it to this thread for 3 ms.
            match attempt {
                ..STOPPING => {
                    std::thread::yield_now();
                    yield_now().await;
                }
                _ => cleanup.pause().await?,
            }
        }
        Ok(Leftovers::default())
    }

    fn set_cpu_priority(&self, priority: CpuPriority) {
        if let Some(group) = self.group() {
            // The group may have just been removed.
            let _ = group.set_cpu_priority(priority);
        }
    }

    fn group(&self) -> Option<&Group> {
        self.resources.as_ref()?.group.as_ref()
    }

    /// Whether the session is its first process and the engine, with one thread each. A pending SIGSTOP keeps both from
    /// forking, and the system call filter keeps them from sending SIGCONT, which would cancel it.
    fn has_only_kept(&self) -> bool {
        let has_two = self.group().is_some_and(|group| group.tasks() == 2);
        // Asked last: an engine that is still alive is one of the two.
        has_two && self.engine.as_ref().is_some_and(|engine| !engine.has_ended())
    }

    /// Whether the session is one process with one thread. A pending SIGSTOP keeps that thread from forking, as above.
    fn is_alone(&self) -> bool {
        match self.group() {
            Some(group) => group.tasks() == 1,
            None => process_tree::threads(self.pid) == 1 && process_tree::children(self.pid).is_empty(),
        }
    }
}

impl GuestProcesses for SessionProcesses {
    fn interrupt(&self) {
        if let Some(process) = &self.process {
            // The process may have just ended.
            let _ = jail::signal::interrupt(process.get_ref().as_fd());
        }
    }

    fn kill(&self) {
        if let Some(process) = &self.process {
            // The process may have just ended.
            let _ = jail::signal::kill(process.get_ref().as_fd());
        }
    }

    fn measure(&mut self) -> GuestUsage {
        let resources = self.resources.as_ref();
        self.usage
            .measure(resources.and_then(|resources| resources.group.as_ref()))
    }

    fn wants_processor(&self) -> bool {
        if self.zygote.greeting.has_engine {
            // A program that stops may be any process of the session.
            return process_tree::any_wants_processor(self.pid);
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
        Box::pin(async move { self.attach_files(&files).await.map_err(|error| error.to_string()) })
    }

    fn bound_files(&mut self, most: Option<u64>) {
        if !self.has_ended() {
            let engine = || match &self.engine {
                Some(engine) => Some(engine.pid),
                None if self.zygote.greeting.has_engine => {
                    process_tree::descendant_numbered(self.pid, FIRST_ENGINE)
                }
                None => None,
            };
            self.file_size.set(self.pid, engine, most);
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
        if self.group().is_some() {
            return None;
        }
        let polled = self.usage.poll();
        let exceeds = self.usage.exceeds_memory(&polled, self.polled_memory_limit);
        exceeds.then_some(Limit::Memory)
    }

    fn settle(&mut self, engine: Option<u32>) -> BoxFuture<'_, Result<Leftovers, String>> {
        Box::pin(self.end_run(engine))
    }

    fn resume(&mut self) {
        if let Some(process) = &self.process
            && std::mem::take(&mut self.is_stopped)
        {
            if let Some(engine) = &self.engine {
                engine.resume();
            }
            // The process may have just ended.
            let _ = jail::signal::resume(process.get_ref().as_fd());
        }
    }

    fn gone(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Some(process) = &self.process {
                // The runtime may not have noticed the end yet.
                if self.has_ended() {
                    return;
                }
                // If watching fails, the process is gone.
                let _ = process.readable().await;
            }
        })
    }
}

impl Drop for SessionProcesses {
    fn drop(&mut self) {
        self.kill();
        let (Some(process), Some(resources)) = (self.process.take(), self.resources.take()) else {
            return;
        };
        // Without a runtime the whole process is ending. The next start cleans up.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(resources.give_back_after(process));
            // Dropping the last reference to a replaced zygote waits for its end, so another thread does it.
            if Arc::strong_count(&self.zygote) == 1 {
                let zygote = Arc::clone(&self.zygote);
                runtime.spawn_blocking(move || drop(zygote));
            }
        }
    }
}
