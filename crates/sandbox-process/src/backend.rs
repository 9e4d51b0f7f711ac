//! The backend: profiles, their zygotes, and launches.

use std::future::Future;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use jail::spec::{Appearance, Identity, Tree};
use sandbox::{
    Attachment, AttachmentAccess, Backend, BackendFigures, BoxFuture, Guest, LaunchError, LaunchSpec, SESSION,
};
use sandbox_host::python::{self, Environment, Interpreter};
use sandbox_host::typescript::{self, Engine, EngineError, Found};
use sandbox_host::{HostFacts, shell};
use tokio::sync::{Mutex, OnceCell};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use types::{Language, Limits};

use crate::appearance;
use crate::attach::AttachError;
use crate::config::{ProcessConfig, Profile};
use crate::mode::Mode;
use crate::mount_sources::MountSources;
use crate::resources::ResourcePool;
use crate::session_pool::SessionSpec;
use crate::zygote::{FileStorage, Zygote, ZygoteError};
use crate::zygote_pool::ZygotePool;
use crate::zygote_spec::{self, ZygoteKind};

/// A session gets the `data` profile if its first program imports one of these: numpy, pandas and libraries that use
/// them.
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
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Attempts per launch. A dead zygote or a dead idle session uses up one attempt.
const ATTEMPTS: u32 = 2;

/// The `process` backend. Clones share one backend.
#[derive(Debug, Clone)]
pub struct Process {
    inner: Arc<Inner>,
}

/// The pool of one kind of zygote, once it is launched.
type PoolSlot = Mutex<Option<Arc<ZygotePool>>>;

#[derive(Debug)]
struct Inner {
    config: ProcessConfig,
    host: OnceCell<Result<HostResources, LaunchError>>,
    plain: PoolSlot,
    data: PoolSlot,
    typescript: PoolSlot,
    shell: PoolSlot,
    /// Self-tests, filling of pools, and renewals.
    tasks: std::sync::Mutex<Vec<JoinHandle<()>>>,
    /// Set once the workspaces' file system turns out to lack idmapped mounts.
    unmappable: AtomicBool,
    mount_sources: Arc<MountSources>,
}

#[derive(Debug)]
pub(crate) struct HostResources {
    pub(crate) mode: Arc<Mode>,
    pub(crate) sessions: Arc<ResourcePool>,
    /// The Python of sessions, or why there is none.
    pub(crate) interpreter: Result<Interpreter, String>,
    pub(crate) environment: Option<Environment>,
}

impl Process {
    /// Makes the backend without starting any process.
    pub fn new(config: ProcessConfig) -> Self {
        let inner = Inner {
            config,
            host: OnceCell::new(),
            plain: PoolSlot::default(),
            data: PoolSlot::default(),
            typescript: PoolSlot::default(),
            shell: PoolSlot::default(),
            tasks: std::sync::Mutex::default(),
            unmappable: AtomicBool::new(false),
            mount_sources: Arc::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The limits of a session with `limits` in this machine's mode.
    ///
    /// # Errors
    /// If the backend refuses to serve.
    pub async fn effective_limits(&self, limits: &Limits) -> Result<Limits, LaunchError> {
        Ok(self.inner.host().await?.mode.effective_limits(limits))
    }

    /// Facts about this machine.
    ///
    /// # Errors
    /// If the backend refuses to serve, or has no Python.
    pub async fn facts(&self) -> Result<HostFacts, LaunchError> {
        let host = self.host().await?;
        let interpreter = host.interpreter.as_ref();
        let interpreter = interpreter.map_err(|missing| LaunchError::Refused(missing.clone()))?;
        Ok(HostFacts {
            mode: host.mode.name(),
            python: interpreter.executable.clone(),
            user_per_session: host.mode.identity.has_user_per_session(),
            cgroups: host.mode.groups.is_ok(),
            has_data_packages: host.has_data_packages(),
        })
    }

    /// Idle sessions of all profiles, except those of a zygote that is being launched.
    pub fn idle(&self) -> usize {
        let idle = self.inner.slots().map(|slot| {
            let slot = slot.try_lock().ok();
            slot.and_then(|pool| pool.as_ref().map(|pool| pool.idle()))
                .unwrap_or(0)
        });
        idle.iter().sum()
    }

    /// Zygotes of all profiles, except those that are being launched.
    fn zygotes(&self) -> usize {
        let slots = self.inner.slots();
        let launched = slots
            .iter()
            .filter(|slot| slot.try_lock().is_ok_and(|pool| pool.is_some()));
        launched.count()
    }

    pub(crate) async fn host(&self) -> Result<&HostResources, LaunchError> {
        self.inner.host().await
    }

    pub(crate) fn config(&self) -> &ProcessConfig {
        &self.inner.config
    }

    /// Why sessions see this folder without an overlay; `None` if it has one.
    pub(crate) fn why_without_overlay(&self, source: &Path) -> Option<String> {
        self.inner.mount_sources.why_without_overlay(source)
    }

    /// The pool and the effective limits of a launch.
    #[cfg(feature = "unconfined-guests")]
    pub(crate) async fn pool_for(
        &self,
        spec: &LaunchSpec,
    ) -> Result<(Arc<ZygotePool>, &HostResources, Limits), LaunchError> {
        let host = self.host().await?;
        let kind = self.inner.kind(host, spec);
        let pool = self.inner.pool(host, kind).await.map_err(failed)?;
        Ok((pool, host, host.mode.effective_limits(&spec.limits)))
    }
}

impl Backend for Process {
    fn name(&self) -> &'static str {
        "process"
    }

    fn mode(&self) -> Option<&'static str> {
        let host = self.inner.host.get()?.as_ref().ok()?;
        Some(host.mode.name())
    }

    fn launch(&self, spec: LaunchSpec) -> BoxFuture<'_, Result<Box<dyn Guest>, LaunchError>> {
        Box::pin(self.inner.launch(spec))
    }

    fn check(&self) -> BoxFuture<'_, Result<(), LaunchError>> {
        Box::pin(async { self.inner.host().await.map(drop) })
    }

    fn figures(&self) -> BackendFigures {
        BackendFigures {
            idle_sessions: self.idle(),
            zygotes: self.zygotes(),
        }
    }

    fn warm(&self) {
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move {
            // On failure, the launch that needs the zygote reports the reason.
            let Ok(host) = inner.host().await else { return };
            if inner.config.profile != Profile::Data {
                let _ = inner.pool(host, ZygoteKind::Plain).await;
            }
            if inner.config.profile != Profile::Plain && host.has_data_packages() {
                let _ = inner.pool(host, ZygoteKind::Data).await;
            }
        });
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.inner.close())
    }
}

impl Inner {
    async fn launch(self: &Arc<Self>, spec: LaunchSpec) -> Result<Box<dyn Guest>, LaunchError> {
        let host = self.host().await?;
        let limits = host.mode.effective_limits(&spec.limits);
        let kind = self.kind(host, &spec);
        let mut attempt = 1;
        loop {
            let pool = self.pool(host, kind).await.map_err(failed)?;
            self.renew_if_expired(kind, &pool);
            let (storage, files) = self.storage(host, &spec.files);
            let session = SessionSpec {
                limits: limits.clone(),
                storage,
            };
            let mut guest = match pool.take_or_start(&session, &files).await {
                Ok(guest) => guest,
                Err(ZygoteError::Gone) if attempt < ATTEMPTS => {
                    attempt += 1;
                    self.forget(kind, &pool).await;
                    continue;
                }
                Err(error) => return Err(failed(error)),
            };
            match guest.processes().attach_files(&files).await {
                Ok(()) => {
                    let places = self.host_paths(&files);
                    guest.assign(limits, spec.session.to_string(), spec.language, places);
                    return Ok(Box::new(guest));
                }
                Err(AttachError::Zygote(ZygoteError::Gone)) if attempt < ATTEMPTS => {
                    attempt += 1;
                    self.forget(kind, &pool).await;
                }
                Err(error) if error.is_unmappable() && storage == FileStorage::Host => {
                    tracing::warn!(%error, "workspaces are not kept: sessions have their files to themselves");
                    self.unmappable.store(true, Ordering::Relaxed);
                }
                // An idle session may have died after it was taken.
                Err(_) if guest.processes().has_ended() && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(LaunchError::Failed(error.to_string())),
            }
        }
    }

    /// Whether sessions can write files of the host; based on the facts known so far.
    fn keeps_files(&self, host: &HostResources) -> bool {
        let subordinate = matches!(host.mode.identity, Identity::Subordinate { .. });
        let attaches = self.config.host.appearance == Appearance::Codeyard;
        attaches && !subordinate && !self.unmappable.load(Ordering::Relaxed)
    }

    fn host_paths(&self, files: &[Attachment]) -> Vec<(String, String)> {
        let revealed = files
            .iter()
            .filter(|file| self.config.reveals_host_paths && file.access != AttachmentAccess::Shared);
        revealed
            .flat_map(Attachment::places)
            .filter_map(|(place, source)| Some((place, source.to_str()?.to_owned())))
            .collect()
    }

    /// Storage of a session's workspace, results and scratch files, and the directories to attach.
    fn storage(&self, host: &HostResources, files: &[Attachment]) -> (FileStorage, Vec<Attachment>) {
        let is_kept = |file: &Attachment| matches!(file.target.as_str(), "/workspace" | SESSION);
        if files.iter().any(is_kept) && self.keeps_files(host) {
            return (FileStorage::Host, files.to_vec());
        }
        let others = files.iter().filter(|file| !is_kept(file));
        (FileStorage::Session, others.cloned().collect())
    }

    async fn close(&self) {
        let Some(Ok(host)) = self.host.get() else {
            return;
        };
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.abort();
            // An aborted task reports its own cancellation.
            let _ = task.await;
        }
        // A zygote that is still being launched ends with this process.
        let pools = self
            .slots()
            .map(|slot| slot.try_lock().ok().and_then(|mut slot| slot.take()));
        let resources = Arc::clone(&host.sessions);
        let closed = tokio::task::spawn_blocking(move || {
            drop(pools);
            resources.close();
        });
        if !matches!(timeout(CLOSE_TIMEOUT, closed).await, Ok(Ok(()))) {
            tracing::warn!(
                "the zygotes could not be ended in order: a process of a session may wait for a file system that does not \
                 answer; it ends when that answers or is unmounted"
            );
        }
    }

    async fn host(&self) -> Result<&HostResources, LaunchError> {
        let found = self.host.get_or_init(|| async {
            let config = self.config.clone();
            let found = tokio::task::spawn_blocking(move || HostResources::find(&config)).await;
            let found = found.unwrap_or_else(|error| Err(LaunchError::Failed(error.to_string())));
            found.inspect(|host| host.sessions.fill())
        });
        found.await.as_ref().map_err(Clone::clone)
    }

    /// The zygote of a session.
    fn kind(&self, host: &HostResources, spec: &LaunchSpec) -> ZygoteKind {
        match spec.language {
            Language::TypeScript => return ZygoteKind::TypeScript,
            Language::Shell => return ZygoteKind::Shell,
            Language::Python => {}
        }
        match self.config.profile {
            Profile::Plain => ZygoteKind::Plain,
            Profile::Data if host.has_data_packages() => ZygoteKind::Data,
            Profile::Auto if host.has_data_packages() && imports_data(&spec.first_code) => ZygoteKind::Data,
            Profile::Data | Profile::Auto => ZygoteKind::Plain,
        }
    }

    async fn pool(&self, host: &HostResources, kind: ZygoteKind) -> Result<Arc<ZygotePool>, ZygoteError> {
        let mut slot = self.slot(kind).lock().await;
        if let Some(pool) = &*slot {
            return Ok(Arc::clone(pool));
        }
        let pool = self.launch_zygote(host, kind).await?;
        *slot = Some(Arc::clone(&pool));
        let (tested, limits) = (Arc::clone(&pool), self.config.host.limits.clone());
        self.in_background(async move {
            tested.run_self_test(kind, &limits).await;
            let filling = tested.keep_filled();
            drop(tested);
            filling.await;
        });
        Ok(pool)
    }

    async fn launch_zygote(
        &self,
        host: &HostResources,
        kind: ZygoteKind,
    ) -> Result<Arc<ZygotePool>, ZygoteError> {
        let spec = match kind {
            ZygoteKind::TypeScript => {
                let engine = self.typescript_engine(host).await?;
                zygote_spec::typescript(&self.config, &host.mode, engine.as_ref())
            }
            ZygoteKind::Shell => {
                let bash = tokio::task::spawn_blocking(shell::find).await;
                let bash = bash.map_err(|error| ZygoteError::System("find bash", io::Error::other(error)))?;
                zygote_spec::shell(&self.config, &host.mode, &bash?)
            }
            ZygoteKind::Plain | ZygoteKind::Data => {
                let interpreter = host.interpreter.as_ref();
                let interpreter = interpreter.map_err(|missing| ZygoteError::NoPython(missing.clone()))?;
                zygote_spec::python(
                    &self.config,
                    &host.mode,
                    interpreter,
                    host.environment.as_ref(),
                    kind.name(),
                    self.bytecode(interpreter).await?,
                )?
            }
        };
        let launched = Zygote::launch(
            &self.config,
            Arc::clone(&host.mode),
            spec,
            Arc::clone(&self.mount_sources),
        );
        let zygote = Arc::new(launched.await?);
        tracing::debug!(
            kind = kind.name(),
            interpreter = zygote.greeting.interpreter,
            "zygote ready"
        );
        let storage = if self.config.owner.is_some() && self.keeps_files(host) {
            FileStorage::Host
        } else {
            FileStorage::Session
        };
        let usual = SessionSpec {
            limits: host.mode.effective_limits(&self.config.host.limits),
            storage,
        };
        Ok(ZygotePool::new(
            zygote,
            Arc::clone(&host.sessions),
            &self.config.pool,
            usual,
            self.config.owner,
        ))
    }

    async fn bytecode(&self, interpreter: &Interpreter) -> Result<Vec<Tree>, ZygoteError> {
        let (data, interpreter) = (self.config.host.data.clone(), interpreter.clone());
        let files = tokio::task::spawn_blocking(move || zygote_spec::bytecode(&data, &interpreter)).await;
        files.map_err(|error| ZygoteError::System("compile the guest's package", io::Error::other(error)))
    }

    /// The engine of TypeScript, if it is not the one in this program.
    async fn typescript_engine(&self, host: &HostResources) -> Result<Option<Found>, ZygoteError> {
        let settings = self.config.host.typescript.clone();
        if let (true, Err(missing)) = (settings.engine != Engine::QuickJs, &host.mode.groups) {
            let (engine, reason) = (settings.engine.name(), missing.to_string());
            return Err(EngineError::Unlimited { engine, reason }.into());
        }
        let data = self.config.host.data.clone();
        let found = tokio::task::spawn_blocking(move || typescript::find(&settings, &data)).await;
        let found = found.map_err(|error| ZygoteError::System("find the engine", io::Error::other(error)))?;
        Ok(found?)
    }

    /// Launches a replacement for an expired zygote in the background.
    fn renew_if_expired(self: &Arc<Self>, kind: ZygoteKind, expired: &Arc<ZygotePool>) {
        if !expired.must_renew(&self.config.pool) {
            return;
        }
        let (inner, expired) = (Arc::clone(self), Arc::clone(expired));
        self.in_background(async move {
            let filling = inner.renew(kind, &expired).await;
            drop(inner);
            // Dropping the last reference to a zygote waits for the zygote's end.
            tokio::task::spawn_blocking(move || drop(expired));
            if let Some(filling) = filling {
                filling.await;
            }
        });
    }

    /// Replaces an expired zygote. Returns the task that keeps the new pool filled, if the zygote was replaced.
    async fn renew(
        &self,
        kind: ZygoteKind,
        expired: &Arc<ZygotePool>,
    ) -> Option<impl Future<Output = ()> + Send + use<>> {
        let host = self.host().await.ok()?;
        let launched = self.launch_zygote(host, kind).await;
        let pool = launched
            .inspect_err(
                |error| tracing::warn!(%error, "the zygote could not be renewed; the old one goes on"),
            )
            .ok()?;
        pool.run_self_test(kind, &self.config.host.limits).await;
        let mut slot = self.slot(kind).lock().await;
        if !slot.as_ref().is_some_and(|pool| Arc::ptr_eq(pool, expired)) {
            return None;
        }
        let filling = pool.keep_filled();
        *slot = Some(pool);
        tracing::debug!(kind = kind.name(), "zygote renewed");
        Some(filling)
    }

    fn in_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(tokio::spawn(work));
    }

    /// Drops a dead zygote, unless already replaced.
    async fn forget(&self, kind: ZygoteKind, dead: &Arc<ZygotePool>) {
        let mut slot = self.slot(kind).lock().await;
        if slot.as_ref().is_some_and(|pool| Arc::ptr_eq(pool, dead)) {
            tracing::warn!("a zygote died; its sessions are lost and a new one takes its place");
            *slot = None;
        }
    }

    fn slot(&self, kind: ZygoteKind) -> &PoolSlot {
        match kind {
            ZygoteKind::Plain => &self.plain,
            ZygoteKind::Data => &self.data,
            ZygoteKind::TypeScript => &self.typescript,
            ZygoteKind::Shell => &self.shell,
        }
    }

    fn slots(&self) -> [&PoolSlot; 4] {
        [&self.plain, &self.data, &self.typescript, &self.shell]
    }
}

impl HostResources {
    fn find(config: &ProcessConfig) -> Result<Self, LaunchError> {
        let ProcessConfig { host, removed, .. } = config;
        appearance::validate(host.appearance).map_err(LaunchError::Refused)?;
        let mode = Mode::enter(config).map_err(|refusal| LaunchError::Refused(refusal.to_string()))?;
        let discovery = python::discover(&host.python, &host.data);
        let interpreter = discovery.usable();
        let mode = Arc::new(mode);
        Ok(Self {
            sessions: ResourcePool::new(Arc::clone(&mode), &host.limits, *removed),
            environment: interpreter
                .as_ref()
                .ok()
                .and_then(|interpreter| python::environment(&host.data, interpreter)),
            mode,
            interpreter,
        })
    }

    fn has_data_packages(&self) -> bool {
        self.environment
            .as_ref()
            .is_some_and(Environment::has_data_packages)
    }
}

fn failed(error: ZygoteError) -> LaunchError {
    match error {
        ZygoteError::NoPython(_) | ZygoteError::Engine(_) | ZygoteError::Shell(_) => {
            LaunchError::Refused(error.to_string())
        }
        error => LaunchError::Failed(error.to_string()),
    }
}

/// Whether a program imports a library of the data profile. A wrong guess costs only time.
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
