//! The backend: one interpreter of its own for each session, started when it is asked for.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jail::keeper::{Keeper, KeeperError};
use rustix::pipe::PipeFlags;
use sandbox::{Attachment, Backend, BoxFuture, Channels, Conversation, Guest, LaunchError, LaunchSpec};
use sandbox_process::{Config, census, python};
use tokio::io::Interest;
use tokio::net::unix::pipe;
use tokio::sync::OnceCell;
use types::Limits;

use crate::NAME;
use crate::ground::{Ground, Refusal};
use crate::guest::LandlockGuest;
use crate::leash::{LandlockLeash, Provision, give_back};
use crate::place::closed_above;
use crate::session::{Directories, SHARED};

/// How long a guest may take to start, on a busy machine with cold files.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long ending sessions are waited for when the backend is closed.
const ENDING: Duration = Duration::from_secs(8);
/// Tasks that a user's other programs may start while a session runs whose processes the kernel counts with theirs.
const ROOM: u64 = 512;

/// The `landlock` backend. Clones are handles of the same one.
#[derive(Debug, Clone)]
pub struct Landlock {
    pub(crate) config: Arc<Config>,
    ground: Arc<OnceCell<Result<Arc<Ground>, String>>>,
}

/// What sessions stand on here, for who attacks them.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The name of the mode.
    pub mode: &'static str,
    /// The interpreter that sessions run.
    pub python: PathBuf,
    /// Each session is a kernel user of its own.
    pub own_users: bool,
    /// Control groups count memory and processes.
    pub groups: bool,
}

/// Why a session could not be started.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("as many sessions are open as there are users leased for them; close some")]
    Users,
    #[error(
        "{target}: sessions are other users than root and cannot pass through {}; open it to all (`chmod o+x`), or run codeyard as \
         an ordinary user", .closed.display()
    )]
    Closed { target: String, closed: PathBuf },
    #[error("{0}: {1}")]
    System(&'static str, #[source] io::Error),
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    #[error("the interpreter did not become a session: {0}")]
    Silent(String),
}

/// Ends of the host, and those that the guest gets.
struct Pipes {
    channels: Channels,
    guest: [OwnedFd; 3],
}

impl Landlock {
    /// Starts nothing yet. What concerns zygotes in the settings (profile, pool) has no meaning here.
    pub fn new(config: Config) -> Self {
        Self {
            config: Arc::new(config),
            ground: Arc::default(),
        }
    }

    pub(crate) async fn ground(&self) -> Result<Arc<Ground>, LaunchError> {
        let found = self.ground.get_or_init(|| async {
            let config = Arc::clone(&self.config);
            let found = tokio::task::spawn_blocking(move || Ground::find(&config)).await;
            let found = found.map_err(|error| error.to_string())?;
            found.map(Arc::new).map_err(|refusal| refusal.to_string())
        });
        found.await.clone().map_err(LaunchError::Refused)
    }

    /// Finds what sessions stand on.
    ///
    /// # Errors
    /// If nothing is served here; the text says why.
    pub async fn standing(&self) -> Result<Standing, LaunchError> {
        let ground = self.ground().await?;
        Ok(Standing {
            mode: ground.mode(),
            python: ground.interpreter.executable.clone(),
            own_users: ground.has_user_per_session(),
            groups: ground.groups.is_ok(),
        })
    }

    async fn start(&self, spec: LaunchSpec) -> Result<Box<dyn Guest>, LaunchError> {
        let ground = self.ground().await?;
        let session = spec.session.to_string();
        let limits = ground.binding(&spec.limits).map_err(refused)?;
        // In a task of its own: whoever asked may stop waiting, and what was begun must still be ended.
        let started = tokio::spawn(start(self.config.clone(), ground, limits, spec.files)).await;
        let (mut guest, limits) = started
            .unwrap_or_else(|error| Err(StartError::System("start a guest", io::Error::other(error))))
            .map_err(failed)?;
        guest
            .warm()
            .await
            .map_err(|error| failed(StartError::Silent(error.to_string())))?;
        guest.assign(limits, session, Vec::new());
        Ok(Box::new(LandlockGuest(guest)))
    }
}

impl Backend for Landlock {
    fn name(&self) -> &'static str {
        NAME
    }

    fn launch(&self, spec: LaunchSpec) -> BoxFuture<'_, Result<Box<dyn Guest>, LaunchError>> {
        Box::pin(self.start(spec))
    }

    fn warm(&self) {
        let backend = self.clone();
        tokio::spawn(async move {
            // A failure shows, with its reason, at the launch that needs it.
            let Ok(ground) = backend.ground().await else {
                return;
            };
            let ending = ground.ending.clone();
            ending.spawn_blocking(move || python::compile(&ground.interpreter, &ground.place.guest()));
        });
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let Some(Ok(ground)) = self.ground.get() else {
                return;
            };
            ground.ending.close();
            let ended = tokio::time::timeout(ENDING, ground.ending.wait()).await;
            if ended.is_err() {
                tracing::warn!("not every session has ended; what they leave is removed by the next start");
            }
            let ground = Arc::clone(ground);
            let cleared = tokio::task::spawn_blocking(move || {
                if let Ok(groups) = &ground.groups {
                    groups.clear();
                }
                // Nothing is taken from under one that still runs.
                if ended.is_ok() {
                    ground.place.remove();
                }
            });
            if cleared.await.is_err() {
                tracing::warn!("what sessions have left is removed by the next start");
            }
        })
    }
}

/// Starts a guest that has said nothing yet; its limits come back with it.
async fn start(
    config: Arc<Config>,
    ground: Arc<Ground>,
    limits: Limits,
    files: Vec<Attachment>,
) -> Result<(Conversation<LandlockLeash>, Limits), StartError> {
    let pipes = Pipes::new().map_err(|error| StartError::System("make a channel", error))?;
    let Pipes { channels, guest } = pipes;
    let (ours, theirs) = (Arc::clone(&ground), limits.clone());
    // From here on every way out gives the user back.
    let user = ground.take_user().ok_or(StartError::Users)?;
    let launched = tokio::task::spawn_blocking(move || {
        launch(&config, &ours, user, &theirs, &files, &guest).inspect_err(|_| ours.give_back(user))
    })
    .await;
    let launched =
        launched.unwrap_or_else(|error| Err(StartError::System("start a guest", io::Error::other(error))));
    let launched = launched.and_then(|(keeper, group, directories)| {
        let provision = Provision {
            ground: Arc::clone(&ground),
            user,
            group,
        };
        bound(keeper, provision, directories, &limits)
    });
    match launched {
        Ok(leash) => {
            let guest = Conversation::new(channels, leash, limits.clone(), String::new());
            Ok((guest, limits))
        }
        Err(error) => Err(error),
    }
}

/// What is made off the asynchronous threads: directories, a group, the keeper with a guest that waits. If it fails,
/// nothing of the session is left, and its user is free.
fn launch(
    config: &Config,
    ground: &Ground,
    user: Option<u32>,
    limits: &Limits,
    files: &[Attachment],
    guest: &[OwnedFd; 3],
) -> Result<(Keeper, Option<jail::cgroup::Group>, Directories), StartError> {
    let step = |step| move |error| StartError::System(step, error);
    if user.is_some() {
        let closed = files
            .iter()
            .filter(|file| file.target != SHARED)
            .find_map(|file| {
                let closed = closed_above(&file.source)?;
                Some((file.target.clone(), closed))
            });
        if let Some((target, closed)) = closed {
            return Err(StartError::Closed { target, closed });
        }
    }
    let number = ground.number();
    let root = ground.place.session(number);
    let mut directories = Directories::make(root.clone(), user, files).map_err(|error| {
        jail::keeper::remove_tree(&root);
        StartError::System("make the session's directories", error)
    })?;
    let started = (|| {
        let shared = files.iter().find(|file| file.target == SHARED);
        if let Some(shared) = shared {
            let tree = ground
                .trees
                .copy_of(&shared.source)
                .map_err(step("copy the tools"))?;
            directories.show(tree).map_err(step("show the tools"))?;
        }
        let group = ground
            .group(number, limits)
            .map_err(step("make a control group"))?;
        let spec = directories.spec(ground, limits, processes(ground, limits));
        let descriptors = guest.each_ref().map(AsFd::as_fd);
        match Keeper::launch(&config.helper, &spec, &descriptors, PATIENCE) {
            Ok(keeper) => Ok((keeper, group)),
            Err(error) => {
                group.map(|group| group.remove());
                Err(error.into())
            }
        }
    })();
    match started {
        Ok((keeper, group)) => Ok((keeper, group, directories)),
        Err(error) => {
            jail::keeper::remove_tree(directories.root());
            Err(error)
        }
    }
}

/// The kernel's bound on processes of the session's user. Where that is this process's own user it counts all of the user's,
/// so it only keeps a swarm within bounds until the session's own are counted.
fn processes(ground: &Ground, limits: &Limits) -> u32 {
    if ground.has_user_per_session() {
        return limits.processes;
    }
    let others = census::tasks_of(ground.machine.user);
    let most = others
        .saturating_add(ROOM)
        .saturating_add(u64::from(limits.processes));
    u32::try_from(most).unwrap_or(u32::MAX)
}

/// Binds the waiting guest to its limits and lets it go on.
fn bound(
    keeper: Keeper,
    provision: Provision,
    directories: Directories,
    limits: &Limits,
) -> Result<LandlockLeash, StartError> {
    let prepared = (|| {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let first = jail::signal::pid(keeper.guest())?.ok_or_else(gone)?;
        match &provision.group {
            Some(group) => group.enter(first),
            None => jail::signal::pin_to_rate(first, limits.cpu_rate),
        }?;
        keeper.release()?;
        let socket = keeper.socket().try_clone_to_owned()?;
        Ok((first, sandbox::watch(socket, Interest::READABLE)?))
    })();
    match prepared {
        Ok((first, socket)) => Ok(LandlockLeash::new(
            keeper,
            socket,
            first,
            provision,
            directories,
            limits,
        )),
        Err(error) => {
            let ending = provision.ground.ending.clone();
            ending.spawn_blocking(move || give_back(keeper, provision));
            Err(StartError::System("bind the session's limits", error))
        }
    }
}

impl Pipes {
    fn new() -> io::Result<Self> {
        let (host, guest) = std::os::unix::net::UnixStream::pair()?;
        host.set_nonblocking(true)?;
        let (stdout, guest_stdout) = output()?;
        let (stderr, guest_stderr) = output()?;
        Ok(Self {
            channels: Channels {
                channel: sandbox::watch(host.into(), Interest::READABLE)?,
                stdout,
                stderr,
            },
            guest: [guest.into(), guest_stdout, guest_stderr],
        })
    }
}

/// A pipe for the guest's output.
fn output() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    Ok((pipe::Receiver::from_owned_fd(reader)?, writer))
}

fn refused(refusal: Refusal) -> LaunchError {
    LaunchError::Refused(refusal.to_string())
}

fn failed(error: StartError) -> LaunchError {
    match error {
        StartError::Refused(refusal) => refused(refusal),
        error => LaunchError::Failed(error.to_string()),
    }
}
