//! `Backend` and `Guest`: the interface of every kind of sandbox.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use types::{Granted, Language, Limit, Limits, Outcome, RunLimits, RunProfile, RunSpec, SessionId};

use crate::{HostCalls, NoCalls};

/// A boxed future, for traits used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One kind of sandbox.
pub trait Backend: Send + Sync {
    /// Name in results, records and settings.
    fn name(&self) -> &'static str;

    /// The backend's mode on this machine, once known.
    fn mode(&self) -> Option<&'static str> {
        None
    }

    /// Starts a confined guest that has run no user code yet.
    fn launch(&self, spec: LaunchSpec) -> BoxFuture<'_, Result<Box<dyn Guest>, LaunchError>>;

    /// Whether the backend can launch guests on this machine, checked before any preparation.
    ///
    /// # Errors
    /// The reason why the backend refuses every launch.
    fn check(&self) -> BoxFuture<'_, Result<(), LaunchError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Processes that are there before anybody asks for a guest.
    fn figures(&self) -> BackendFigures {
        BackendFigures::default()
    }

    /// Prepares for a fast first launch; returns at once and works in the background.
    fn warm(&self);

    /// Ends the processes between guests and removes guests' leftovers from the machine. Later launches fail.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Processes that a backend made in advance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackendFigures {
    /// Sessions without an owner.
    pub idle_sessions: usize,
    /// Processes that sessions are cloned from.
    pub zygotes: usize,
}

/// Specification of a new guest.
#[derive(Debug, Clone)]
pub struct LaunchSpec {
    /// The guest's session.
    pub session: SessionId,
    /// All limits are enforced.
    pub limits: Limits,
    /// The language of all programs.
    pub language: Language,
    /// The first program, by which a backend may choose a preloaded guest.
    pub first_code: String,
    /// Directories of the host that the session sees. Without an attachment, `/workspace`, `/results` and `/scratch` are
    /// the session's own.
    pub files: Vec<Attachment>,
}

/// A directory of the host that a session sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// On the host, absolute and without symbolic links.
    pub source: PathBuf,
    /// In the session: `/workspace`, [`SESSION`], [`SHARED`], or a path of the backend's configuration.
    pub target: String,
    /// Rights of the session.
    pub access: AttachmentAccess,
}

/// Target of the directory that holds `results` and `scratch`, which programs see as `/results` and `/scratch`.
pub const SESSION: &str = "/session";
/// Target of the tree that holds `tools` and `skills`, which programs see as `/tools` and `/skills`.
pub const SHARED: &str = "/shared";

impl Attachment {
    /// The session's paths of this attachment, with the host's directories.
    pub fn places(&self) -> Vec<(String, PathBuf)> {
        let parts: &[&str] = match self.target.as_str() {
            SESSION => &["results", "scratch"],
            SHARED => &["tools", "skills"],
            target => return vec![(target.to_owned(), self.source.clone())],
        };
        let place = |part: &&str| (format!("/{part}"), self.source.join(part));
        parts.iter().map(place).collect()
    }
}

/// Rights of a session in an attached directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachmentAccess {
    /// Reads files that every user of the host may read: a tree that many sessions share.
    Shared,
    /// Reads as the directory's owner.
    ReadOnly,
    /// Reads and writes as the directory's owner.
    ReadWrite,
}

/// Why no guest could be started; the text names the remedy.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LaunchError {
    /// The machine cannot meet the policy.
    #[error("{0}")]
    Refused(String),
    /// A step that should work on this machine failed.
    #[error("the sandbox could not be started: {0}")]
    Failed(String),
}

/// One program to execute.
#[derive(Debug, Clone)]
pub struct Run {
    /// The request. The session's limits come from the launch, not from the request.
    pub spec: RunSpec,
    /// The surface's interpretation of the run.
    pub profile: RunProfile,
    /// Ends the run when triggered.
    pub cancel: CancellationToken,
    /// The limit that triggered `cancel`, if one did.
    pub exceeded: Arc<OnceLock<Limit>>,
}

impl Run {
    /// A Python program without cancellation, for code that runs outside surfaces.
    pub fn of(code: impl Into<String>, limits: Limits) -> Self {
        let granted = Granted {
            limits,
            named: Vec::new(),
        };
        Self {
            spec: RunSpec::python(code, granted),
            profile: RunProfile::default(),
            cancel: CancellationToken::default(),
            exceeded: Arc::default(),
        }
    }

    /// The limits of this run.
    pub fn limits(&self) -> RunLimits {
        self.spec.granted.limits.of_run()
    }
}

/// Executes one of the host's own programs, without tools, in a guest that ends afterwards; returns its result.
///
/// # Errors
/// The program's error, in one line.
pub async fn ask(mut guest: Box<dyn Guest>, run: Run) -> Result<Value, String> {
    let outcome = guest.execute(run, Arc::new(NoCalls)).await;
    guest.close().await;
    match outcome.error {
        Some(error) => Err(format!("{}: {}", error.kind, error.message)),
        None => Ok(outcome.result.unwrap_or_default()),
    }
}

/// A confined guest. Dropping it ends all of its processes.
pub trait Guest: Send {
    /// Executes one run. Never fails: errors are in the outcome. If the outcome's session is `Lost`, the guest has
    /// ended and the caller must drop it.
    fn execute(&mut self, run: Run, calls: Arc<dyn HostCalls>) -> BoxFuture<'_, Outcome>;

    /// Shows these directories to the guest from its next run on. Each directory hides the previous one at the same
    /// path. Refreshes read-only directories that are already attached.
    fn attach(&mut self, files: Vec<Attachment>) -> BoxFuture<'_, Result<(), LaunchError>>;

    /// Limits the size in bytes of every file that later runs write, in addition to the limit of the launch. `None`
    /// removes the limit.
    fn bound_files(&mut self, most: Option<u64>) -> BoxFuture<'_, ()>;

    /// Bytes of the guest's open files on the file system `device` whose names were removed.
    fn unlinked(&mut self, device: u64) -> u64;

    /// Current memory in bytes; `None` if unreadable.
    fn memory(&self) -> Option<u64>;

    /// Resolves when the guest has ended by itself outside of a run.
    fn died(&mut self) -> BoxFuture<'_, ()>;

    /// Ends all processes and resolves when they are gone.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}
