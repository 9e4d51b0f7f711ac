//! The backend: profiles, their zygotes, and launches.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use jail::spec::{Appearance, Identity};
use sandbox::{Access, Attachment, Backend, BoxFuture, Guest, LaunchError, LaunchSpec};
use tokio::sync::{Mutex, OnceCell};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use types::Limits;

use crate::appearance;
use crate::attach::AttachError;
use crate::config::{Config, Floor, Profile, Requirement};
use crate::folders::Folders;
use crate::mode::{Mode, Refusal};
use crate::pool::Shape;
use crate::post::Post;
use crate::provisions::Provisions;
use crate::python::{self, Environment, Interpreter};
use crate::station::{Files, Station, StationError};

/// Libraries whose import makes a session's first program one for the `data` profile: numpy, pandas and what needs them.
const DATA_LIBRARIES: [&str; 10] = [
    "numpy",
    "pandas",
    "matplotlib",
    "sklearn",
    "scipy",
    "seaborn",
    "plotly",
    "statsmodels",
    "polars",
    "openpyxl",
];
/// How long the zygotes may take to end with all that came from them.
const CLOSING: Duration = Duration::from_secs(5);
/// How often a launch is tried again on a new zygote when the old one is found dead.
const ATTEMPTS: u32 = 2;

/// The `process` backend. Clones are handles of the same one.
#[derive(Debug, Clone)]
pub struct Process {
    inner: Arc<Inner>,
}

/// What the backend stands on: machine, user and Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Which of the jail's modes this machine and user are in.
    pub mode: &'static str,
    /// Each session has a kernel user of its own.
    pub own_users: bool,
    /// Control groups bind memory, processes and CPU.
    pub groups: bool,
    /// The machine's Python.
    pub python: PathBuf,
    /// The managed environment has what the `data` profile loads.
    pub has_data: bool,
}

#[derive(Debug)]
struct Inner {
    config: Config,
    ground: OnceCell<Result<Ground, LaunchError>>,
    plain: Mutex<Option<Arc<Post>>>,
    data: Mutex<Option<Arc<Post>>>,
    /// Self-tests, pools and renewals.
    tasks: std::sync::Mutex<Vec<JoinHandle<()>>>,
    /// The file system of the workspaces cannot show files as another user's.
    unmappable: AtomicBool,
    folders: Arc<Folders>,
}

/// What all zygotes stand on, found once.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) mode: Arc<Mode>,
    provisions: Arc<Provisions>,
    pub(crate) interpreter: Interpreter,
    pub(crate) environment: Option<Environment>,
}

impl Process {
    /// Starts nothing yet.
    pub fn new(config: Config) -> Self {
        let inner = Inner {
            config,
            ground: OnceCell::new(),
            plain: Mutex::default(),
            data: Mutex::default(),
            tasks: std::sync::Mutex::default(),
            unmappable: AtomicBool::new(false),
            folders: Arc::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The limits that a session with `limits` has in this machine's mode.
    ///
    /// # Errors
    /// If the backend refuses to serve at all.
    pub async fn binding(&self, limits: &Limits) -> Result<Limits, LaunchError> {
        Ok(self.inner.ground().await?.mode.binding(limits))
    }

    /// What the backend stands on here.
    ///
    /// # Errors
    /// If the backend refuses to serve at all.
    pub async fn standing(&self) -> Result<Standing, LaunchError> {
        let ground = self.ground().await?;
        Ok(Standing {
            mode: ground.mode.name(),
            own_users: ground.mode.identity.has_user_per_session(),
            groups: ground.mode.groups.is_ok(),
            python: ground.interpreter.executable.clone(),
            has_data: ground.has_data(),
        })
    }

    /// Sessions of all profiles that stand ready now; those of a zygote that is being launched do not count.
    pub fn ready(&self) -> usize {
        let posts = [&self.inner.plain, &self.inner.data];
        let ready = posts.map(|place| {
            let post = place.try_lock().ok();
            post.and_then(|post| post.as_ref().map(|post| post.ready()))
                .unwrap_or(0)
        });
        ready.iter().sum()
    }

    pub(crate) async fn ground(&self) -> Result<&Ground, LaunchError> {
        self.inner.ground().await
    }

    pub(crate) fn data(&self) -> &Path {
        &self.inner.config.data
    }

    pub(crate) fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Why sessions see this folder without an overlay, if they do.
    pub(crate) fn bare(&self, source: &Path) -> Option<String> {
        self.inner.folders.bare(source)
    }

    pub(crate) fn owner(&self) -> Option<(u32, u32)> {
        self.inner.config.owner
    }

    pub(crate) fn requirement(&self) -> Requirement {
        self.inner.config.require
    }

    /// Launches a guest without namespaces and confinement: the floor of benchmarks.
    ///
    /// # Errors
    /// As `launch`; always if the configuration does not offer it.
    pub async fn launch_floor(&self, spec: LaunchSpec) -> Result<Box<dyn Guest>, LaunchError> {
        self.inner.launch(spec, Floor::Offered).await
    }
}

impl Backend for Process {
    fn name(&self) -> &'static str {
        "process"
    }

    fn mode(&self) -> Option<&'static str> {
        let ground = self.inner.ground.get()?.as_ref().ok()?;
        Some(ground.mode.name())
    }

    fn launch(&self, spec: LaunchSpec) -> BoxFuture<'_, Result<Box<dyn Guest>, LaunchError>> {
        Box::pin(self.inner.launch(spec, Floor::Refused))
    }

    fn check(&self) -> BoxFuture<'_, Result<(), LaunchError>> {
        Box::pin(async { self.inner.ground().await.map(drop) })
    }

    fn warm(&self) {
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move {
            // A failure shows, with its reason, at the launch that needs the zygote.
            let Ok(ground) = inner.ground().await else { return };
            if inner.config.profile != Profile::Data {
                let _ = inner.post(ground, Profile::Plain).await;
            }
            if inner.config.profile != Profile::Plain && ground.has_data() {
                let _ = inner.post(ground, Profile::Data).await;
            }
        });
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.inner.close())
    }
}

impl Inner {
    async fn launch(self: &Arc<Self>, spec: LaunchSpec, floor: Floor) -> Result<Box<dyn Guest>, LaunchError> {
        let ground = self.ground().await?;
        let limits = ground.mode.binding(&spec.limits);
        let profile = self.profile(ground, &spec.first_code);
        let mut attempt = 1;
        loop {
            let post = self.post(ground, profile).await.map_err(failed)?;
            self.renew_if_worn(profile, &post);
            let (place, files) = self.files(ground, &spec.files);
            let shape = Shape {
                limits: limits.clone(),
                files: place,
            };
            let mut guest = match post.start(&shape, &files, floor).await {
                Ok(guest) => guest,
                Err(StationError::Gone) if attempt < ATTEMPTS => {
                    attempt += 1;
                    self.forget(profile, &post).await;
                    continue;
                }
                Err(error) => return Err(failed(error)),
            };
            match guest.leash().show(&files).await {
                Ok(()) => {
                    guest.assign(limits, spec.session.to_string(), self.places(&files));
                    return Ok(Box::new(guest));
                }
                Err(AttachError::Station(StationError::Gone)) if attempt < ATTEMPTS => {
                    attempt += 1;
                    self.forget(profile, &post).await;
                }
                Err(error) if error.is_unmappable() && place == Files::Attached => {
                    tracing::warn!(%error, "workspaces are not kept: sessions have their files to themselves");
                    self.unmappable.store(true, Ordering::Relaxed);
                }
                // One that stood ready may have died at this very moment.
                Err(_) if guest.leash().has_ended() && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(LaunchError::Failed(error.to_string())),
            }
        }
    }

    /// Whether sessions can write files of the host here, as far as is known.
    fn keeps_files(&self, ground: &Ground) -> bool {
        let subordinate = matches!(ground.mode.identity, Identity::Subordinate { .. });
        let shown = self.config.appearance == Appearance::Codeyard;
        shown && !subordinate && !self.unmappable.load(Ordering::Relaxed)
    }

    /// Where the attached directories are on the host, if programs may know.
    fn places(&self, files: &[Attachment]) -> Vec<(String, String)> {
        let told = files
            .iter()
            .filter(|file| self.config.tells_places && file.access != Access::Shared);
        told.filter_map(|file| Some((file.target.clone(), file.source.to_str()?.to_owned())))
            .collect()
    }

    /// Where a session's workspace and results lie, and what is attached to it.
    fn files(&self, ground: &Ground, asked: &[Attachment]) -> (Files, Vec<Attachment>) {
        let own = |file: &Attachment| matches!(file.target.as_str(), "/workspace" | "/results");
        if asked.iter().any(own) && self.keeps_files(ground) {
            return (Files::Attached, asked.to_vec());
        }
        let others = asked.iter().filter(|file| !own(file));
        (Files::Own, others.cloned().collect())
    }

    /// Ends the zygotes and removes all control groups.
    async fn close(&self) {
        let Some(Ok(ground)) = self.ground.get() else {
            return;
        };
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.abort();
            // What it says of its own end is of no interest any more.
            let _ = task.await;
        }
        // One that is just being launched ends with this process.
        let posts =
            [&self.plain, &self.data].map(|place| place.try_lock().ok().and_then(|mut place| place.take()));
        let provisions = Arc::clone(&ground.provisions);
        let closed = tokio::task::spawn_blocking(move || {
            drop(posts);
            provisions.close();
        });
        if !matches!(timeout(CLOSING, closed).await, Ok(Ok(()))) {
            tracing::warn!(
                "the zygotes could not be ended in order: a process of a session may wait for a file system that does not \
                 answer; it ends when that answers or is unmounted"
            );
        }
    }

    async fn ground(&self) -> Result<&Ground, LaunchError> {
        let found = self.ground.get_or_init(|| async {
            let config = self.config.clone();
            let found = tokio::task::spawn_blocking(move || find_ground(&config)).await;
            let found = found.unwrap_or_else(|error| Err(LaunchError::Failed(error.to_string())));
            found.inspect(|ground| ground.provisions.stock())
        });
        found.await.as_ref().map_err(Clone::clone)
    }

    /// The profile for a session that begins with this program.
    fn profile(&self, ground: &Ground, code: &str) -> Profile {
        match self.config.profile {
            Profile::Plain => Profile::Plain,
            Profile::Data if ground.has_data() => Profile::Data,
            Profile::Auto if ground.has_data() && imports_data(code) => Profile::Data,
            Profile::Data | Profile::Auto => Profile::Plain,
        }
    }

    /// The zygote of a profile with its pool, launched if there is none.
    async fn post(&self, ground: &Ground, profile: Profile) -> Result<Arc<Post>, StationError> {
        let mut place = self.place(profile).0.lock().await;
        if let Some(post) = &*place {
            return Ok(Arc::clone(post));
        }
        let post = self.open(ground, profile).await?;
        *place = Some(Arc::clone(&post));
        let (inspected, limits) = (Arc::clone(&post), self.config.limits.clone());
        self.in_background(async move {
            inspected.inspect(&limits).await;
            let keep = inspected.keep();
            drop(inspected);
            keep.await;
        });
        Ok(post)
    }

    async fn open(&self, ground: &Ground, profile: Profile) -> Result<Arc<Post>, StationError> {
        let (_, name) = self.place(profile);
        let mode = Arc::clone(&ground.mode);
        let environment = ground.environment.as_ref();
        let folders = Arc::clone(&self.folders);
        let opened = Station::open(
            &self.config,
            mode,
            &ground.interpreter,
            environment,
            name,
            folders,
        )
        .await;
        let station = Arc::new(opened?);
        tracing::debug!(profile = name, python = station.greeting.python, "zygote ready");
        let attached = self.config.owner.is_some() && self.keeps_files(ground);
        let usual = Shape {
            limits: ground.mode.binding(&self.config.limits),
            files: if attached { Files::Attached } else { Files::Own },
        };
        let provisions = Arc::clone(&ground.provisions);
        Ok(Post::new(
            station,
            provisions,
            &self.config.pool,
            usual,
            self.config.owner,
        ))
    }

    /// Launches another zygote for one that has served for long; nobody waits for it.
    fn renew_if_worn(self: &Arc<Self>, profile: Profile, worn: &Arc<Post>) {
        if !worn.is_to_be_renewed(&self.config.pool) {
            return;
        }
        let (inner, worn) = (Arc::clone(self), Arc::clone(worn));
        self.in_background(async move {
            let keep = inner.renew(profile, &worn).await;
            drop(inner);
            // It may hold the last word of a zygote, whose end takes a while.
            tokio::task::spawn_blocking(move || drop(worn));
            if let Some(keep) = keep {
                keep.await;
            }
        });
    }

    /// Puts a new zygote in the place of a worn one; what keeps its pool, if that was done.
    async fn renew(
        &self,
        profile: Profile,
        worn: &Arc<Post>,
    ) -> Option<impl Future<Output = ()> + Send + use<>> {
        let ground = self.ground().await.ok()?;
        let opened = self.open(ground, profile).await;
        let post = opened
            .inspect_err(
                |error| tracing::warn!(%error, "the zygote could not be renewed; the old one goes on"),
            )
            .ok()?;
        post.inspect(&self.config.limits).await;
        let (place, name) = self.place(profile);
        let mut place = place.lock().await;
        if !place.as_ref().is_some_and(|post| Arc::ptr_eq(post, worn)) {
            return None;
        }
        let keep = post.keep();
        *place = Some(post);
        tracing::debug!(profile = name, "zygote renewed");
        Some(keep)
    }

    /// Starts work that ends with the backend.
    fn in_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(tokio::spawn(work));
    }

    /// Drops a dead zygote, unless another one has taken its place already.
    async fn forget(&self, profile: Profile, dead: &Arc<Post>) {
        let mut place = self.place(profile).0.lock().await;
        if place.as_ref().is_some_and(|post| Arc::ptr_eq(post, dead)) {
            tracing::warn!("a zygote died; its sessions are lost and a new one takes its place");
            *place = None;
        }
    }

    fn place(&self, profile: Profile) -> (&Mutex<Option<Arc<Post>>>, &'static str) {
        match profile {
            Profile::Data => (&self.data, "data"),
            Profile::Auto | Profile::Plain => (&self.plain, "plain"),
        }
    }
}

impl Ground {
    fn has_data(&self) -> bool {
        self.environment
            .as_ref()
            .is_some_and(|environment| environment.has_numpy && environment.has_pandas)
    }
}

/// Finds mode, interpreter and environment.
fn find_ground(config: &Config) -> Result<Ground, LaunchError> {
    if let Some(why) = appearance::mistake(config.appearance) {
        return Err(LaunchError::Refused(why));
    }
    let mode = Mode::enter(config).map_err(refused)?;
    let discovery = python::discover(&config.python, &config.data);
    let Some(interpreter) = discovery.interpreter else {
        let skipped: Vec<String> = discovery.skipped.iter().map(ToString::to_string).collect();
        let looked = if skipped.is_empty() {
            "none was found on PATH".to_owned()
        } else {
            skipped.join("; ")
        };
        return Err(LaunchError::Refused(format!(
            "no Python 3.10 or newer can be used: {looked}; install python3, or name one in `[python] path`"
        )));
    };
    let mode = Arc::new(mode);
    Ok(Ground {
        provisions: Provisions::new(Arc::clone(&mode), &config.limits, config.removed),
        environment: python::environment(&config.data, &interpreter),
        mode,
        interpreter,
    })
}

fn refused(refusal: Refusal) -> LaunchError {
    LaunchError::Refused(refusal.to_string())
}

fn failed(error: StationError) -> LaunchError {
    LaunchError::Failed(error.to_string())
}

/// Whether a program imports a library of the data profile. A wrong guess costs time, nothing else.
fn imports_data(code: &str) -> bool {
    let imported = |line: &str| {
        let line = line.trim_start();
        let names = line
            .strip_prefix("import ")
            .or_else(|| line.strip_prefix("from "))?;
        let first = |name: &str| {
            name.trim()
                .split(['.', ' ', ';'])
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        Some(
            names
                .split(',')
                .map(first)
                .any(|name| DATA_LIBRARIES.contains(&name.as_str())),
        )
    };
    code.split(['\n', ';']).filter_map(imported).any(|found| found)
}

#[cfg(test)]
mod tests {
    use super::imports_data;

    #[test]
    fn data_programs_are_recognised() {
        let check = |code, expected| assert_eq!(imports_data(code), expected, "{code}");
        check("import pandas as pd", true);
        check("import json, numpy", true);
        check("x = 1; import numpy as np", true);
        check("def f():\n    from matplotlib import pyplot", true);
        check("from sklearn.cluster import KMeans", true);
        check("import json\nprint('import pandas')", false);
        check("# import pandas", false);
        check("import pandasql", false);
    }
}
