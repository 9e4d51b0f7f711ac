//! `Backend` and `Guest`: what every kind of sandbox offers.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use types::{Granted, Limit, Limits, Outcome, RunLimits, RunProfile, RunSpec, SessionId};

use crate::{HostCalls, NoCalls};

/// A boxed future, for traits used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One kind of sandbox.
pub trait Backend: Send + Sync {
    /// Name in results, records and settings.
    fn name(&self) -> &'static str;

    /// Which of its modes it is in on this machine, once it knows.
    fn mode(&self) -> Option<&'static str> {
        None
    }

    /// Starts a confined guest that has run no user code yet.
    fn launch(&self, spec: LaunchSpec) -> BoxFuture<'_, Result<Box<dyn Guest>, LaunchError>>;

    /// Whether it can launch anything on this machine, before anything is prepared for a launch.
    ///
    /// # Errors
    /// Why it refuses every launch.
    fn check(&self) -> BoxFuture<'_, Result<(), LaunchError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Prepares what makes the first launch fast; returns at once, works in the background.
    fn warm(&self);

    /// Ends what is kept between guests and removes what guests have left on the machine; launches nothing any more.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// What a new guest is to be.
#[derive(Debug, Clone)]
pub struct LaunchSpec {
    /// The session that it serves.
    pub session: SessionId,
    /// All of them bind.
    pub limits: Limits,
    /// The first program, from which a backend may choose what to have loaded already.
    pub first_code: String,
    /// Directories of the host that the session sees; `/workspace` and `/results` are its own where none is given.
    pub files: Vec<Attachment>,
}

/// A directory of the host that a session sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// On the host, absolute and without symbolic links.
    pub source: PathBuf,
    /// In the session: `/workspace`, `/results`, `/shared`, or a place of the backend's configuration.
    pub target: String,
    /// What the session may do there.
    pub access: AttachmentAccess,
}

/// What a session may do in an attached directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachmentAccess {
    /// Read what everyone on the host may read: a tree that many sessions share.
    Shared,
    /// Read as the directory's owner.
    ReadOnly,
    /// Read and write as the directory's owner.
    ReadWrite,
}

/// Why no guest could be started; the text names the remedy.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LaunchError {
    /// The machine cannot give what the policy asks.
    #[error("{0}")]
    Refused(String),
    /// A step that should work here failed.
    #[error("the sandbox could not be started: {0}")]
    Failed(String),
}

/// One program to execute.
#[derive(Debug, Clone)]
pub struct Run {
    /// What is asked. Limits of the session are those of its launch.
    pub spec: RunSpec,
    /// What the surface means by the run.
    pub profile: RunProfile,
    /// Ends the run when triggered.
    pub cancel: CancellationToken,
    /// The limit for which `cancel` is triggered, if it is for one.
    pub exceeded: Arc<OnceLock<Limit>>,
}

impl Run {
    /// A Python program that nobody cancels, as no surface asks for it.
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

/// Executes a program of the host's own, which has no tools, in a guest that ends with it; gives its result.
///
/// # Errors
/// What the program failed with, in one line.
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
    /// Executes one run. Never fails: what goes wrong is in the outcome. After an outcome whose session is
    /// `Lost` the guest is gone and must be dropped.
    fn execute(&mut self, run: Run, calls: Arc<dyn HostCalls>) -> BoxFuture<'_, Outcome>;

    /// Shows it these directories from its next run on; those at the same places are hidden. A read-only directory that it
    /// sees already is shown as it is now.
    fn attach(&mut self, files: Vec<Attachment>) -> BoxFuture<'_, Result<(), LaunchError>>;

    /// Bounds every file that its next runs write to so many bytes, beside the limit that it was launched with; `None` takes
    /// the bound back.
    fn bound_files(&mut self, most: Option<u64>) -> BoxFuture<'_, ()>;

    /// Bytes on the file system `device` of files that it has open and that have no name any more.
    fn unlinked(&mut self, device: u64) -> u64;

    /// Memory in bytes that it holds now; `None` where it cannot be read.
    fn memory(&self) -> Option<u64>;

    /// Resolves when the guest has died by itself while no run was under way.
    fn died(&mut self) -> BoxFuture<'_, ()>;

    /// Ends all processes and resolves when they are gone.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}
