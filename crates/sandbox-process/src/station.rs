//! One zygote with its sockets: starts sessions in order, keeps network namespaces in stock.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use jail::cgroup::Group;
use jail::guards::Removed;
use jail::session::wire::{self, Guard, Request};
use jail::spec::{Appearance, Counting, Identity};
use jail::zygote::{Answer, LaunchError, Zygote};
use rustix::pipe::PipeFlags;
use sandbox::Channels;
use serde::Deserialize;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::sync::Mutex;
use types::Limits;

use crate::appearance;
use crate::config::{Config, Pool, Requirement};
use crate::folders::Folders;
use crate::layout::{LayoutError, Plan};
use crate::leash::{Bounds, ProcessLeash};
use crate::mode::Mode;
use crate::provisions::{Provision, ProvisionError, Provisions, REFILL_PAUSE};
use crate::python::{Environment, Interpreter};
use crate::remedy::explain;
use crate::{rlimits, settle};

/// How long a zygote may take to load its libraries, on a busy machine with cold files.
const PATIENCE: Duration = Duration::from_secs(60);
/// Network namespaces in stock.
const NETWORKS: usize = 8;
/// The bounds of the floor of benchmarks.
const UNBOUND: Bounds = Bounds {
    memory: u64::MAX,
    file_size: u64::MAX,
};
/// Why a zygote or a session could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StationError {
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error("{}", explain(.0))]
    Launch(#[from] LaunchError),
    #[error("the zygote says: {0}")]
    Zygote(String),
    #[error("the zygote answered in an unknown way: {0}")]
    Greeting(String),
    #[error(transparent)]
    Provision(#[from] ProvisionError),
    #[error("{}", explain(format_args!("{0}: {1}", .0, .1)))]
    System(&'static str, #[source] io::Error),
    #[error("{}", explain("the zygote is gone"))]
    Gone,
    #[error("the mounter did not answer in time")]
    Late,
    #[error("clone a session: {0}")]
    Clone(#[source] io::Error),
}

/// What `zygote.py` says when it is ready.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Greeting {
    /// Version of the interpreter.
    pub python: String,
    /// Address space of the zygote in bytes, which its sessions start with.
    pub address_space: u64,
    error: Option<String>,
}

/// Where the workspace and the results of a session lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Files {
    /// On its own file system, gone with it.
    Own,
    /// In directories of the host that are attached to it.
    Attached,
}

/// A zygote that serves sessions.
#[derive(Debug)]
pub struct Station {
    zygote: Zygote,
    control: AsyncFd<OwnedFd>,
    networks: AsyncFd<OwnedFd>,
    /// Requests are answered in order, so one at a time waits for its answer.
    turn: Mutex<()>,
    network_turn: Mutex<()>,
    mode: Arc<Mode>,
    mount_targets: Vec<String>,
    folders: Arc<Folders>,
    requirement: Requirement,
    appearance: Appearance,
    exec: bool,
    removed: Removed,
    /// What the zygote said.
    pub greeting: Greeting,
    hooks_needed: AtomicBool,
    started: AtomicU32,
    opened: Instant,
}

impl Station {
    /// Launches a zygote and waits until it is ready.
    pub async fn open(
        config: &Config,
        mode: Arc<Mode>,
        interpreter: &Interpreter,
        environment: Option<&Environment>,
        profile: &'static str,
        folders: Arc<Folders>,
    ) -> Result<Self, StationError> {
        let memory = if mode.groups.is_ok() {
            Counting::Counted
        } else {
            Counting::Uncounted
        };
        let plan = Plan {
            interpreter,
            environment,
            profile,
            identity: mode.identity,
            appearance: config.appearance,
            memory,
            estate: mode.estate(),
            floor: config.floor,
            exec: config.exec,
            removed: config.removed,
            mounts: &config.mounts,
            host_links: &config.host_links,
        };
        let (spec, helper) = (plan.spec()?, config.helper.clone());
        let zygote = tokio::task::spawn_blocking(move || Zygote::launch(&helper, &spec, PATIENCE))
            .await
            .map_err(|error| StationError::System("launch a zygote", io::Error::other(error)))??;
        let greeting: Greeting = serde_json::from_slice(zygote.greeting())
            .map_err(|_| StationError::Greeting(String::from_utf8_lossy(zygote.greeting()).into_owned()))?;
        if let Some(error) = greeting.error {
            return Err(StationError::Zygote(error));
        }
        let copied = |socket: BorrowedFd<'_>| watch(socket.try_clone_to_owned()?);
        let watched = |step| move |error| StationError::System(step, error);
        let station = Self {
            control: copied(zygote.control()).map_err(watched("watch the zygote"))?,
            networks: copied(zygote.networks()).map_err(watched("watch the network attendant"))?,
            turn: Mutex::new(()),
            network_turn: Mutex::new(()),
            zygote,
            mode,
            mount_targets: config.mounts.clone(),
            folders,
            requirement: config.require,
            appearance: config.appearance,
            exec: config.exec,
            removed: config.removed,
            greeting,
            hooks_needed: AtomicBool::new(true),
            started: AtomicU32::new(0),
            opened: Instant::now(),
        };
        for _ in 0..NETWORKS {
            station.zygote.order_network().map_err(|_| StationError::Gone)?;
        }
        Ok(station)
    }

    /// From now on sessions skip the interpreter's after-fork hooks: a self-test has shown that they can.
    pub fn skip_hooks(&self) {
        self.hooks_needed.store(false, Ordering::Relaxed);
    }

    /// Whether it has served for so long that another should take its place.
    pub fn is_worn(&self, pool: &Pool) -> bool {
        self.started.load(Ordering::Relaxed) >= pool.renew_sessions
            || self.opened.elapsed() >= pool.renew_after
    }

    /// Starts a session with these limits, already bound by what is prepared for it.
    pub async fn start(
        self: &Arc<Self>,
        provisions: &Arc<Provisions>,
        limits: &Limits,
        files: Files,
    ) -> Result<(Channels, ProcessLeash), StationError> {
        let mut request = self.request(limits);
        if files == Files::Own {
            request.flags |= wire::OWN_FILES;
        }
        if self.hooks_needed.load(Ordering::Relaxed) {
            request.flags |= wire::PYTHON_HOOKS;
        }
        self.start_as(request, provisions, limits).await
    }

    /// Starts a guest without namespaces, confinement, user and group of its own: the floor of benchmarks.
    pub async fn start_floor(
        self: &Arc<Self>,
        provisions: &Arc<Provisions>,
        limits: &Limits,
    ) -> Result<(Channels, ProcessLeash), StationError> {
        let request = Request {
            flags: wire::FLOOR,
            ..self.request(limits)
        };
        let no_network = std::fs::File::open("/dev/null")
            .map_err(|error| StationError::System("open /dev/null", error))?;
        let (channels, process, pid) = self.connect(&request, no_network.into(), &[]).await?;
        let leash = ProcessLeash::new(process, pid, provisions.nothing(), UNBOUND, Arc::clone(self));
        Ok((channels, leash.without_own_pids()))
    }

    /// Starts a session that skips the interpreter's hooks before it is known that it can: the self-test.
    pub async fn start_without_hooks(
        self: &Arc<Self>,
        provisions: &Arc<Provisions>,
        limits: &Limits,
    ) -> Result<(Channels, ProcessLeash), StationError> {
        let mut request = self.request(limits);
        request.flags |= wire::OWN_FILES;
        self.start_as(request, provisions, limits).await
    }

    async fn start_as(
        self: &Arc<Self>,
        mut request: Request,
        provisions: &Arc<Provisions>,
        limits: &Limits,
    ) -> Result<(Channels, ProcessLeash), StationError> {
        self.started.fetch_add(1, Ordering::Relaxed);
        let mut provision = provisions.take(limits).await?;
        request.user = u64::from(provision.user());
        match self.start_with(&request, &mut provision, limits).await {
            Ok((channels, process, pid)) => {
                let bounds = Bounds {
                    memory: limits.memory,
                    file_size: limits.file_size,
                };
                let leash = ProcessLeash::new(process, pid, provision, bounds, Arc::clone(self));
                if self.removed.contains(Guard::Pids) {
                    return Ok((channels, leash.without_own_pids()));
                }
                Ok((channels, leash))
            }
            Err(error) => {
                provision.give_back().await;
                Err(error)
            }
        }
    }

    async fn start_with(
        self: &Arc<Self>,
        request: &Request,
        provision: &mut Provision,
        limits: &Limits,
    ) -> Result<(Channels, AsyncFd<OwnedFd>, u32), StationError> {
        let network = self.take_network().await?;
        if self.removed.contains(Guard::ControlGroup) {
            return self.connect(request, network, &[]).await;
        }
        let entrances = provision.group.as_mut().map(Group::entrances).unwrap_or_default();
        let (channels, process, pid) = self.connect(request, network, &entrances).await?;
        match &provision.group {
            // It has moved itself before it does anything else, but for its disk rate; no program has begun.
            Some(group) if !entrances.is_empty() => group.enter_throttle(pid),
            Some(group) => group.enter(pid),
            None => jail::signal::pin_to_rate(pid, limits.cpu_rate),
        }
        .map_err(|error| StationError::System("bind the session's limits", error))?;
        Ok((channels, process, pid))
    }

    /// Clones the zygote with a channel and output pipes; nothing is sent yet.
    async fn connect(
        &self,
        request: &Request,
        network: OwnedFd,
        entrances: &[OwnedFd],
    ) -> Result<(Channels, AsyncFd<OwnedFd>, u32), StationError> {
        let step = |step| move |error: io::Error| StationError::System(step, error);
        let (host, guest) = std::os::unix::net::UnixStream::pair().map_err(step("make a channel"))?;
        let (stdout, guest_stdout) = output().map_err(step("make a pipe"))?;
        let (stderr, guest_stderr) = output().map_err(step("make a pipe"))?;
        let own = [&guest.into(), &guest_stdout, &guest_stderr, &network];
        let descriptors: Vec<BorrowedFd<'_>> = own.into_iter().chain(entrances).map(AsFd::as_fd).collect();
        let process = self.clone_session(request, &descriptors).await?;
        let pid = jail::signal::pid(process.as_fd())
            .map_err(step("read the session's pid"))?
            .ok_or(StationError::Gone)?;
        host.set_nonblocking(true).map_err(step("make a channel"))?;
        let channels = Channels {
            channel: watch(host.into()).map_err(step("watch the channel"))?,
            stdout,
            stderr,
        };
        let process = watch(process).map_err(step("watch the session's process"))?;
        Ok((channels, process, pid))
    }

    /// Sends a request and waits for its answer.
    async fn clone_session(
        &self,
        request: &Request,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<OwnedFd, StationError> {
        let _turn = self.turn.lock().await;
        self.zygote
            .request(request, descriptors)
            .map_err(|_| StationError::Gone)?;
        loop {
            let mut ready = self.control.readable().await.map_err(|_| StationError::Gone)?;
            match ready.try_io(|_| self.zygote.answer()) {
                Ok(Ok(answer)) => return answer.map_err(StationError::Clone),
                Ok(Err(_)) => return Err(StationError::Gone),
                Err(_would_block) => {}
            }
        }
    }

    /// Has every process of a session killed except its first.
    ///
    /// # Errors
    /// Why not, after [`settle::DEADLINE`] at the latest.
    pub(crate) async fn kill_others(&self, session: BorrowedFd<'_>) -> Result<(), String> {
        let order = |zygote: &Zygote| zygote.order_kill_others(session);
        match self.ask_mounter(settle::DEADLINE, order).await {
            Ok(answer) => answer.map(drop),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Sends an order to the mounter and waits for its answer.
    pub(crate) async fn ask_mounter(
        &self,
        deadline: Duration,
        order: impl FnOnce(&Zygote) -> io::Result<OwnedFd>,
    ) -> Result<Result<Answer, String>, StationError> {
        let answer = order(&self.zygote).map_err(|_| StationError::Gone)?;
        let answer = watch(answer).map_err(|error| StationError::System("watch the mounter", error))?;
        let answered = tokio::time::timeout(deadline, async {
            loop {
                let mut ready = answer.readable().await?;
                if let Ok(received) = ready.try_io(|socket| Answer::receive(socket.as_fd())) {
                    return received;
                }
            }
        });
        match answered.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Err(StationError::Gone),
            Ok(Err(error)) => Err(StationError::System("ask the mounter", error)),
            Err(_late) => Err(StationError::Late),
        }
    }

    /// Who its sessions are outside.
    pub(crate) fn identity(&self) -> Identity {
        self.mode.identity
    }

    /// What is known of the directories that sessions are shown.
    pub(crate) fn folders(&self) -> &Arc<Folders> {
        &self.folders
    }

    /// The weakest guarantee that is accepted.
    pub(crate) fn requirement(&self) -> Requirement {
        self.requirement
    }

    /// Whether tests leave this guard away.
    pub(crate) fn has_removed(&self, guard: Guard) -> bool {
        self.removed.contains(guard)
    }

    /// Where folders of the settings appear.
    pub(crate) fn mount_targets(&self) -> &[String] {
        &self.mount_targets
    }

    /// Takes a network namespace from the stock. The next is ordered a moment later: making it takes as long as
    /// all other steps of a session together.
    async fn take_network(self: &Arc<Self>) -> Result<OwnedFd, StationError> {
        let station = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(REFILL_PAUSE).await;
            // A zygote that is gone shows at the next request.
            let _ = station.upgrade().map(|station| station.zygote.order_network());
        });
        let _turn = self.network_turn.lock().await;
        loop {
            let mut ready = self.networks.readable().await.map_err(|_| StationError::Gone)?;
            match ready.try_io(|_| self.zygote.take_network()) {
                // Its attendant is gone, and sessions cannot do without.
                Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(StationError::Gone);
                }
                Ok(network) => {
                    return network.map_err(|error| StationError::System("make a network namespace", error));
                }
                Err(_would_block) => {}
            }
        }
    }

    /// A request for anyone; the user comes with the provision.
    fn request(&self, limits: &Limits) -> Request {
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
        appearance::ask(self.appearance, limits, &mut request);
        request
    }
}

/// Watches a descriptor for input.
fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    sandbox::watch(descriptor, Interest::READABLE)
}

/// A pipe for the guest's output.
fn output() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    Ok((pipe::Receiver::from_owned_fd(reader)?, writer))
}
