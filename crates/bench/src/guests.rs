//! Guests of the process backend for the parts: a warm backend, sessions, runs and immediate host calls.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use sandbox::{Attachment, Backend, BoxFuture, CallContext, Guest, HostCall, HostCalls, LaunchSpec, Run};
use sandbox_host::python;
use sandbox_process::{PoolConfig, Process, ProcessConfig};
use serde_json::value::RawValue;
use tokio::time::Instant;
use types::{HostCallError, HostCallErrorKind, Language, Limits, SessionId, Status};

/// Pause between sessions, so that clean-up and preparation do not count in the next session's figure.
pub const SETTLE: Duration = Duration::from_millis(20);
/// Longest self-test of a new zygote with its first preparations.
const WARM: Duration = Duration::from_millis(500);
pub const PLAIN: &str = "print(1 + 1)";
pub const DATA: &str = "import pandas\nprint(1 + 1)";

pub struct Guests {
    backend: Process,
    pub python: PathBuf,
}

/// Answers every call at once with its arguments.
struct Immediate;

impl HostCalls for Immediate {
    fn call(
        &self,
        call: HostCall,
        _context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        let answer = serde_json::value::to_raw_value(&call.args)
            .map_err(|error| HostCallError::new(HostCallErrorKind::Upstream, error.to_string()));
        Box::pin(async move { answer })
    }
}

impl Guests {
    /// Prepares a backend without a pool; starts nothing yet.
    pub fn without_pool(data: &Path) -> Result<Self> {
        let max_idle = 0;
        Self::new(
            data,
            PoolConfig {
                max_idle,
                ..PoolConfig::default()
            },
            None,
        )
    }

    /// Prepares a backend with a pool whose sessions can attach files of this owner; starts nothing yet.
    pub fn with_pool(data: &Path, owner: Option<(u32, u32)>) -> Result<Self> {
        Self::new(data, PoolConfig::default(), owner)
    }

    fn new(data: &Path, pool: PoolConfig, owner: Option<(u32, u32)>) -> Result<Self> {
        let settings = python::Settings {
            path: None,
            search_path: std::env::var_os("PATH"),
        };
        let found = python::discover(&settings, data).interpreter;
        let interpreter = found.context("no Python was found")?;
        let helper = vec![std::env::current_exe()?.into()];
        let backend = Process::new(ProcessConfig {
            pool,
            owner,
            ..ProcessConfig::new(sandbox_host::HostConfig {
                shell: sandbox_host::shell::ShellFiles {
                    files: shell_guest::FILES.into(),
                    programs: shell_guest::PROGRAMS.into(),
                },
                ..sandbox_host::HostConfig::new(data.to_owned(), settings, helper)
            })
        });
        Ok(Self {
            backend,
            python: interpreter.executable,
        })
    }

    /// Starts the zygotes of both profiles on this thread's processors and waits until they are idle.
    pub async fn warm(&self, files: &[Attachment]) -> Result<()> {
        // Twice: the first session may overlap its zygote's self-test.
        for code in [PLAIN, DATA, PLAIN, DATA] {
            self.session(code, files).await?;
        }
        tokio::time::sleep(WARM).await;
        Ok(())
    }

    /// The time from the request for a session to the end of its first run.
    pub async fn session(&self, code: &str, files: &[Attachment]) -> Result<Duration> {
        let started = Instant::now();
        finish(started, self.launch(code, files).await?, code).await
    }

    /// Like `session`, for a program in another language.
    pub async fn session_of(&self, language: Language, code: &str) -> Result<Duration> {
        let started = Instant::now();
        let spec = LaunchSpec {
            language,
            ..spec(code, &[])
        };
        finish(started, self.backend.launch(spec).await?, code).await
    }

    /// Like `session`, without namespaces and confinement: the floor of fresh sessions.
    #[cfg(feature = "unconfined-guests")]
    pub async fn unconfined_session(&self, code: &str) -> Result<Duration> {
        let started = Instant::now();
        let guest = self.backend.launch_unconfined(spec(code, &[])).await?;
        finish(started, guest, code).await
    }

    /// Fails: this build has no floor.
    #[cfg(not(feature = "unconfined-guests"))]
    pub async fn unconfined_session(&self, _code: &str) -> Result<Duration> {
        bail!("build `bench` with `--features unconfined-guests`, as `cargo xtask bench` does")
    }

    pub async fn launch(&self, code: &str, files: &[Attachment]) -> Result<Box<dyn Guest>> {
        Ok(self.backend.launch(spec(code, files)).await?)
    }

    pub async fn close(self) {
        self.backend.close().await;
    }
}

fn spec(code: &str, files: &[Attachment]) -> LaunchSpec {
    LaunchSpec {
        session: SessionId::new("bench"),
        limits: Limits::default(),
        language: Language::Python,
        first_code: code.to_owned(),
        files: files.to_vec(),
    }
}

async fn finish(started: Instant, mut guest: Box<dyn Guest>, code: &str) -> Result<Duration> {
    execute(guest.as_mut(), code).await?;
    let took = started.elapsed();
    guest.close().await;
    Ok(took)
}

/// The program must complete.
pub async fn execute(guest: &mut dyn Guest, code: &str) -> Result<()> {
    let limits = Limits {
        wall_time: Duration::from_secs(60),
        ..Limits::default()
    };
    let run = Run::of(code, limits);
    let outcome = guest.execute(run, Arc::new(Immediate)).await;
    if outcome.status != Status::Completed {
        bail!("{code:?}: {:?}", outcome.error);
    }
    Ok(())
}
