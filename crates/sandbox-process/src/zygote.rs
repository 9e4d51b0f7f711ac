//! A zygote: the warmed process from which sessions are cloned.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use jail::cgroup::Group;
use jail::guards::RemovedGuards;
use jail::session::wire::{self, Guard, Request};
use jail::spec::{Appearance, Identity, ZygoteSpec};
use jail::zygote::{LaunchError, MounterReply, Zygote as ZygoteProcess};
use sandbox::Channels;
use sandbox_host::layout::LayoutError;
use sandbox_host::typescript::EngineError;
use sandbox_host::{channels, rlimits, run_cleanup};
use serde::Deserialize;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Mutex;
use types::{Limits, RequiredIsolation};

use crate::appearance;
use crate::config::{PoolConfig, ProcessConfig};
use crate::mode::Mode;
use crate::mount_sources::MountSources;
use crate::network::NetworkNamespaces;
use crate::remedy::explain;
use crate::resources::{REFILL_PAUSE, ResourceError, ResourcePool, SessionResources};
use crate::session::{ByteLimits, SessionProcesses};

/// Time limit for a zygote to load its libraries, on a busy machine whose files are not cached.
const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug, thiserror::Error)]
pub enum ZygoteError {
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error("{0}")]
    NoPython(String),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("{}", explain(.0))]
    Launch(#[from] LaunchError),
    #[error("the zygote says: {0}")]
    Zygote(String),
    #[error("the zygote answered in an unknown way: {0}")]
    Greeting(String),
    #[error(transparent)]
    Resources(#[from] ResourceError),
    #[error("{}", explain(format_args!("{0}: {1}", .0, .1)))]
    System(&'static str, #[source] io::Error),
    #[error("{}", explain("the zygote is gone"))]
    Gone,
    #[error("the mounter did not answer in time")]
    Late,
    #[error("clone a session: {0}")]
    Clone(#[source] io::Error),
}

/// The first message of a zygote, when ready.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Greeting {
    /// Name and version of the interpreter.
    pub interpreter: String,
    /// Address space of the zygote in bytes. Every session starts with this size.
    pub address_space: u64,
    /// Whether programs run in a process of their own, which the session's first process starts.
    pub has_engine: bool,
    error: Option<String>,
}

/// Storage of a session's workspace, results and scratch files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStorage {
    /// In the session's own memory file system, which ends with the session.
    Session,
    /// In attached directories of the host.
    Host,
}

#[derive(Debug)]
pub struct Zygote {
    process: ZygoteProcess,
    control: AsyncFd<OwnedFd>,
    /// The zygote answers requests in order, so only one request at a time waits for an answer.
    turn: Mutex<()>,
    networks: NetworkNamespaces,
    pub(crate) mode: Arc<Mode>,
    /// Targets of the settings' folders.
    pub(crate) mount_targets: Vec<String>,
    pub(crate) mount_sources: Arc<MountSources>,
    pub(crate) require: RequiredIsolation,
    appearance: Appearance,
    exec: bool,
    pub(crate) removed: RemovedGuards,
    pub greeting: Greeting,
    hooks_needed: AtomicBool,
    started: AtomicU32,
    launched: Instant,
}

impl Zygote {
    pub async fn launch(
        config: &ProcessConfig,
        mode: Arc<Mode>,
        spec: ZygoteSpec,
        mount_sources: Arc<MountSources>,
    ) -> Result<Self, ZygoteError> {
        let helper = config.host.helper.clone();
        let process = tokio::task::spawn_blocking(move || ZygoteProcess::launch(&helper, &spec, TIMEOUT))
            .await
            .map_err(|error| ZygoteError::System("launch a zygote", io::Error::other(error)))??;
        let greeting: Greeting = serde_json::from_slice(process.greeting())
            .map_err(|_| ZygoteError::Greeting(String::from_utf8_lossy(process.greeting()).into_owned()))?;
        if let Some(error) = greeting.error {
            return Err(ZygoteError::Zygote(error));
        }
        let control = process.control().try_clone_to_owned();
        Ok(Self {
            control: control
                .and_then(watch)
                .map_err(|error| ZygoteError::System("watch the zygote", error))?,
            turn: Mutex::new(()),
            networks: NetworkNamespaces::of(&process).map_err(network_error)?,
            process,
            mode,
            mount_targets: config.mounts.clone(),
            mount_sources,
            require: config.host.require,
            appearance: config.host.appearance,
            exec: config.host.exec,
            removed: config.removed,
            greeting,
            hooks_needed: AtomicBool::new(true),
            started: AtomicU32::new(0),
            launched: Instant::now(),
        })
    }

    /// Lets sessions skip the interpreter's after-fork hooks, once the self-test has passed.
    pub fn skip_hooks(&self) {
        self.hooks_needed.store(false, Ordering::Relaxed);
    }

    /// Whether the zygote has reached its age or number of sessions.
    pub fn is_expired(&self, pool: &PoolConfig) -> bool {
        self.started.load(Ordering::Relaxed) >= pool.renew_sessions
            || self.launched.elapsed() >= pool.renew_after
    }

    /// Starts a session with these limits, which the control groups already enforce.
    pub async fn start(
        self: &Arc<Self>,
        resources: &Arc<ResourcePool>,
        limits: &Limits,
        files: FileStorage,
    ) -> Result<(Channels, SessionProcesses), ZygoteError> {
        let mut request = self.request(limits);
        if files == FileStorage::Session {
            request.flags |= wire::OWN_FILES;
        }
        if self.hooks_needed.load(Ordering::Relaxed) {
            request.flags |= wire::PYTHON_HOOKS;
        }
        self.start_as(request, resources, limits).await
    }

    /// Starts the session of the self-test, which skips the interpreter's after-fork hooks.
    pub async fn start_without_hooks(
        self: &Arc<Self>,
        resources: &Arc<ResourcePool>,
        limits: &Limits,
    ) -> Result<(Channels, SessionProcesses), ZygoteError> {
        let mut request = self.request(limits);
        request.flags |= wire::OWN_FILES;
        self.start_as(request, resources, limits).await
    }

    /// Starts the session in a separate task. A caller may stop waiting at any time. The task still takes the zygote's
    /// answer, because the next session would otherwise receive it, and ends the unwanted session.
    async fn start_as(
        self: &Arc<Self>,
        request: Request,
        resources: &Arc<ResourcePool>,
        limits: &Limits,
    ) -> Result<(Channels, SessionProcesses), ZygoteError> {
        let (zygote, resources, limits) = (Arc::clone(self), Arc::clone(resources), limits.clone());
        let started = tokio::spawn(async move { zygote.start_now(request, &resources, &limits).await });
        started
            .await
            .map_err(|error| ZygoteError::System("start a session", io::Error::other(error)))?
    }

    async fn start_now(
        self: &Arc<Self>,
        mut request: Request,
        resources: &Arc<ResourcePool>,
        limits: &Limits,
    ) -> Result<(Channels, SessionProcesses), ZygoteError> {
        self.started.fetch_add(1, Ordering::Relaxed);
        let mut session = resources.take(limits).await?;
        request.user = u64::from(session.user());
        match self.start_with(&request, &mut session, limits).await {
            Ok((channels, process, pid)) => {
                let byte_limits = ByteLimits {
                    memory: limits.memory,
                    file_size: limits.file_size,
                };
                let processes = SessionProcesses::new(process, pid, session, byte_limits, Arc::clone(self));
                if self.removed.contains(Guard::Pids) {
                    return Ok((channels, processes.without_pid_namespace()));
                }
                Ok((channels, processes))
            }
            Err(error) => {
                session.give_back().await;
                Err(error)
            }
        }
    }

    async fn start_with(
        self: &Arc<Self>,
        request: &Request,
        resources: &mut SessionResources,
        limits: &Limits,
    ) -> Result<(Channels, AsyncFd<OwnedFd>, u32), ZygoteError> {
        let network = self.take_network().await?;
        if self.removed.contains(Guard::ControlGroup) {
            return self.connect(request, network, &[]).await;
        }
        let entrances = resources.group.as_mut().map(Group::entrances).unwrap_or_default();
        let (channels, process, pid) = self.connect(request, network, &entrances).await?;
        match &resources.group {
            // The session's first step moved the session into the group, except for the disk rate. No program has
            // started.
            Some(group) if !entrances.is_empty() => group.enter_throttle(pid),
            Some(group) => group.enter(pid),
            None => jail::signal::pin_to_rate(pid, limits.cpu_rate),
        }
        .map_err(|error| ZygoteError::System("bind the session's limits", error))?;
        Ok((channels, process, pid))
    }

    /// Clones the zygote with a channel and output pipes. Sends nothing yet. The caller must not drop this future
    /// before its end: the next caller would receive the zygote's answer.
    pub(crate) async fn connect(
        &self,
        request: &Request,
        network: OwnedFd,
        entrances: &[OwnedFd],
    ) -> Result<(Channels, AsyncFd<OwnedFd>, u32), ZygoteError> {
        let step = |step| move |error: io::Error| ZygoteError::System(step, error);
        let (channels, [channel, stdout, stderr]) = channels::open().map_err(step("make a channel"))?;
        let own = [&channel, &stdout, &stderr, &network];
        let descriptors: Vec<BorrowedFd<'_>> = own.into_iter().chain(entrances).map(AsFd::as_fd).collect();
        let process = self.clone_session(request, &descriptors).await?;
        let pid = jail::signal::pid(process.as_fd())
            .map_err(step("read the session's pid"))?
            .ok_or(ZygoteError::Gone)?;
        let process = watch(process).map_err(step("watch the session's process"))?;
        Ok((channels, process, pid))
    }

    async fn clone_session(
        &self,
        request: &Request,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<OwnedFd, ZygoteError> {
        let _turn = self.turn.lock().await;
        self.process
            .request(request, descriptors)
            .map_err(|_| ZygoteError::Gone)?;
        loop {
            let mut ready = self.control.readable().await.map_err(|_| ZygoteError::Gone)?;
            match ready.try_io(|_| self.process.answer()) {
                Ok(Ok(answer)) => return answer.map_err(ZygoteError::Clone),
                Ok(Err(_)) => return Err(ZygoteError::Gone),
                Err(_would_block) => {}
            }
        }
    }

    /// Kills every process of a session except its first.
    ///
    /// # Errors
    /// The reason, after [`run_cleanup::DEADLINE`] at the latest.
    pub(crate) async fn kill_others(&self, session: BorrowedFd<'_>) -> Result<(), String> {
        let order = |zygote: &ZygoteProcess| zygote.order_kill_others(session);
        match self.ask_mounter(run_cleanup::DEADLINE, order).await {
            Ok(answer) => answer.map(drop),
            Err(error) => Err(error.to_string()),
        }
    }

    pub(crate) async fn ask_mounter(
        &self,
        deadline: Duration,
        order: impl FnOnce(&ZygoteProcess) -> io::Result<OwnedFd>,
    ) -> Result<Result<MounterReply, String>, ZygoteError> {
        let answer = order(&self.process).map_err(|_| ZygoteError::Gone)?;
        let answer = watch(answer).map_err(|error| ZygoteError::System("watch the mounter", error))?;
        let answered = tokio::time::timeout(deadline, async {
            loop {
                let mut ready = answer.readable().await?;
                if let Ok(received) = ready.try_io(|socket| MounterReply::receive(socket.as_fd())) {
                    return received;
                }
            }
        });
        match answered.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Err(ZygoteError::Gone),
            Ok(Err(error)) => Err(ZygoteError::System("ask the mounter", error)),
            Err(_late) => Err(ZygoteError::Late),
        }
    }

    /// Takes a network namespace. Orders the next one a moment later, once the session has started.
    async fn take_network(self: &Arc<Self>) -> Result<OwnedFd, ZygoteError> {
        let zygote = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(REFILL_PAUSE).await;
            // If the zygote is gone, the next request reports it.
            let _ = zygote.upgrade().map(|zygote| zygote.process.order_network());
        });
        self.networks.take(&self.process).await.map_err(network_error)
    }

    /// A request for a session with these limits. The user comes from the session's resources.
    pub(crate) fn request(&self, limits: &Limits) -> Request {
        let user = match self.mode.identity {
            Identity::Single { .. } => wire::OWN_USER_NAMESPACE,
            Identity::Range { .. } | Identity::Subordinate { .. } => wire::SET_USER,
        };
        let executable = if self.exec { wire::EXECUTABLE } else { 0 };
        let mut request = Request {
            flags: user | executable | self.removed.bits(),
            disk: limits.disk,
            inodes: limits.inodes,
            rlimits: rlimits::of(limits, self.greeting.address_space, limits.processes),
            ..Request::default()
        };
        appearance::write_to_request(self.appearance, limits, &mut request);
        request
    }
}

/// Reports the zygote as gone if the process that makes network namespaces is gone: the zygote is useless without this
/// process.
fn network_error(error: io::Error) -> ZygoteError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ZygoteError::Gone,
        _ => ZygoteError::System("make a network namespace", error),
    }
}

fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    sandbox::watch(descriptor, Interest::READABLE)
}
