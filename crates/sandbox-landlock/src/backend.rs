//! The backend: starts one interpreter per session at launch.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jail::keeper::{Keeper, KeeperError};
use sandbox::{Attachment, Backend, BoxFuture, Conversation, Guest, LaunchError, LaunchSpec, SHARED};
use sandbox_host::{HostConfig, HostFacts, channels, process_tree, python};
use tokio::io::Interest;
use tokio::sync::OnceCell;
use types::{Language, Limits};

use crate::NAME;
use crate::guest::LandlockGuest;
use crate::guest_program::GuestProgram;
use crate::host::{HostResources, LandlockRefusal};
use crate::processes::{SessionProcesses, SessionResources, give_back};
use crate::session_files::SessionFiles;
use crate::session_root::closed_above;

/// Time limit for the start of a guest, on a busy machine whose files are not cached.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit for ending sessions when the backend is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(8);
/// Tasks that the user's other programs may start during a session. The kernel counts them together with the session's
/// tasks.
const OTHER_TASKS: u64 = 512;

/// The `landlock` backend. Clones share one backend.
#[derive(Debug, Clone)]
pub struct Landlock {
    pub(crate) config: Arc<HostConfig>,
    host: Arc<OnceCell<Result<Arc<HostResources>, String>>>,
}

#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Refused(#[from] LandlockRefusal),
    #[error("every leased user has an open session; close some sessions")]
    Users,
    #[error(
        "{target}: sessions run as other users, who cannot pass through {}; open it to all (`chmod o+x`), or run codeyard as \
         an ordinary user", .closed.display()
    )]
    Closed { target: String, closed: PathBuf },
    #[error("{0}: {1}")]
    System(&'static str, #[source] io::Error),
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    #[error("the interpreter did not become a session: {0}")]
    NotReady(String),
}

impl Landlock {
    /// Makes the backend without starting any process.
    pub fn new(config: HostConfig) -> Self {
        Self {
            config: Arc::new(config),
            host: Arc::default(),
        }
    }

    pub(crate) async fn host(&self) -> Result<Arc<HostResources>, LaunchError> {
        let found = self.host.get_or_init(|| async {
            let config = Arc::clone(&self.config);
            let found = tokio::task::spawn_blocking(move || HostResources::find(&config)).await;
            let found = found.map_err(|error| error.to_string())?;
            found.map(Arc::new).map_err(|refusal| refusal.to_string())
        });
        found.await.clone().map_err(LaunchError::Refused)
    }

    /// Facts about this machine.
    ///
    /// # Errors
    /// If the backend refuses to serve; the text says why.
    pub async fn facts(&self) -> Result<HostFacts, LaunchError> {
        let host = self.host().await?;
        let python = host.python().map_err(refused)?;
        Ok(HostFacts {
            mode: host.mode(),
            python: python.interpreter.executable.clone(),
            user_per_session: host.has_user_per_session(),
            cgroups: host.groups.is_ok(),
            has_data_packages: python
                .environment
                .as_ref()
                .is_some_and(python::Environment::has_data_packages),
        })
    }

    async fn start(&self, spec: LaunchSpec) -> Result<Box<dyn Guest>, LaunchError> {
        let host = self.host().await?;
        let session = spec.session.to_string();
        let limits = host.effective_limits(&spec.limits).map_err(refused)?;
        // Run in a separate task: the session must be ended even if the caller stops waiting.
        let started = tokio::spawn(start(
            self.config.clone(),
            host,
            limits,
            spec.language,
            spec.files,
        ))
        .await;
        let (mut guest, limits) = started
            .unwrap_or_else(|error| Err(StartError::System("start a guest", io::Error::other(error))))
            .map_err(failed)?;
        guest
            .warm()
            .await
            .map_err(|error| failed(StartError::NotReady(error.to_string())))?;
        guest.assign(limits, session, spec.language, Vec::new());
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
            // On failure, the next launch reports the reason.
            let Ok(host) = backend.host().await else {
                return;
            };
            let ending = host.ending.clone();
            ending.spawn_blocking(move || {
                if let Ok(python) = host.python() {
                    python::compile(&python.interpreter, &host.root.guest());
                }
            });
        });
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let Some(Ok(host)) = self.host.get() else {
                return;
            };
            host.ending.close();
            let ended = tokio::time::timeout(CLOSE_TIMEOUT, host.ending.wait()).await;
            if ended.is_err() {
                tracing::warn!("some sessions have not ended; the next start removes their files");
            }
            let host = Arc::clone(host);
            let cleared = tokio::task::spawn_blocking(move || {
                if let Ok(groups) = &host.groups {
                    groups.clear();
                }
                // Keep the files of a session that still runs.
                if ended.is_ok() {
                    host.root.remove();
                }
            });
            if cleared.await.is_err() {
                tracing::warn!("files of sessions remain; the next start removes them");
            }
        })
    }
}

/// Starts a guest that has sent nothing yet. Returns its limits too.
async fn start(
    config: Arc<HostConfig>,
    host: Arc<HostResources>,
    limits: Limits,
    language: Language,
    files: Vec<Attachment>,
) -> Result<(Conversation<SessionProcesses>, Limits), StartError> {
    let (channels, guest) = channels::open().map_err(|error| StartError::System("make a channel", error))?;
    let (session_host, session_limits) = (Arc::clone(&host), limits.clone());
    // From here on every path must return the user.
    let user = host.take_user().ok_or(StartError::Users)?;
    let launched = tokio::task::spawn_blocking(move || {
        let host = &session_host;
        let program = host.program(language).map_err(StartError::from);
        program
            .and_then(|program| launch(&config, host, &program, user, &session_limits, &files, &guest))
            .inspect_err(|_| session_host.return_user(user))
    })
    .await;
    let launched =
        launched.unwrap_or_else(|error| Err(StartError::System("start a guest", io::Error::other(error))));
    let launched = launched.and_then(|(keeper, group, session_files)| {
        let resources = SessionResources {
            host: Arc::clone(&host),
            user,
            group,
        };
        enforce_limits(keeper, resources, session_files, &limits, language)
    });
    match launched {
        Ok(processes) => {
            let guest = Conversation::new(channels, processes, limits.clone(), String::new());
            Ok((guest, limits))
        }
        Err(error) => Err(error),
    }
}

/// Makes the directories, the control group, and the keeper with a waiting guest. Blocks. After a failure nothing of
/// the session remains.
fn launch(
    config: &HostConfig,
    host: &HostResources,
    program: &GuestProgram<'_>,
    user: Option<u32>,
    limits: &Limits,
    files: &[Attachment],
    guest: &[OwnedFd; 3],
) -> Result<(Keeper, Option<jail::cgroup::Group>, SessionFiles), StartError> {
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
    let number = host.session_number();
    let root = host.root.session(number);
    let mut session_files = SessionFiles::make(root.clone(), user, files).map_err(|error| {
        jail::keeper::remove_tree(&root);
        StartError::System("make the session's directories", error)
    })?;
    let started = (|| {
        let shared = files.iter().find(|file| file.target == SHARED);
        if let Some(shared) = shared {
            let tree = host
                .tool_trees
                .copy_of(&shared.source)
                .map_err(step("copy the tools"))?;
            session_files.show(tree).map_err(step("show the tools"))?;
        }
        let group = host.group(number, limits).map_err(step("make a control group"))?;
        let spec = session_files
            .spec(host, program, limits, process_limit(host, limits))
            .map_err(step("measure the session's program"))?;
        let descriptors = guest.each_ref().map(AsFd::as_fd);
        match Keeper::launch(&config.helper, &spec, &descriptors, START_TIMEOUT) {
            Ok(keeper) => Ok((keeper, group)),
            Err(error) => {
                group.map(|group| group.remove());
                Err(error.into())
            }
        }
    })();
    match started {
        Ok((keeper, group)) => Ok((keeper, group, session_files)),
        Err(error) => {
            jail::keeper::remove_tree(session_files.root());
            Err(error)
        }
    }
}

/// The process limit of the session's user (`RLIMIT_NPROC`). If sessions have this process's user, the kernel also
/// counts that user's other processes. The limit then only stops a fork bomb until polling counts the session's own
/// processes.
fn process_limit(host: &HostResources, limits: &Limits) -> u32 {
    if host.has_user_per_session() {
        return limits.processes;
    }
    let others = process_tree::tasks_of(host.machine.user);
    let most = others
        .saturating_add(OTHER_TASKS)
        .saturating_add(u64::from(limits.processes));
    u32::try_from(most).unwrap_or(u32::MAX)
}

fn enforce_limits(
    keeper: Keeper,
    resources: SessionResources,
    session_files: SessionFiles,
    limits: &Limits,
    language: Language,
) -> Result<SessionProcesses, StartError> {
    let prepared = (|| {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let first = jail::signal::pid(keeper.guest())?.ok_or_else(gone)?;
        match &resources.group {
            Some(group) => group.enter(first),
            None => jail::signal::pin_to_rate(first, limits.cpu_rate),
        }?;
        keeper.release()?;
        let socket = keeper.socket().try_clone_to_owned()?;
        Ok((first, sandbox::watch(socket, Interest::READABLE)?))
    })();
    match prepared {
        Ok((first, socket)) => Ok(SessionProcesses::new(
            keeper,
            socket,
            first,
            resources,
            session_files,
            limits,
            language,
        )),
        Err(error) => {
            let ending = resources.host.ending.clone();
            ending.spawn_blocking(move || give_back(keeper, resources));
            Err(StartError::System("bind the session's limits", error))
        }
    }
}

fn refused(refusal: LandlockRefusal) -> LaunchError {
    LaunchError::Refused(refusal.to_string())
}

fn failed(error: StartError) -> LaunchError {
    match error {
        StartError::Refused(refusal) => refused(refusal),
        error => LaunchError::Failed(error.to_string()),
    }
}
