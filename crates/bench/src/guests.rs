//! Sessions of the process backend: fresh ones beside the floor, runs and host calls beside a round trip.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use sandbox::{Backend, BoxFuture, Guest, HostCall, HostCallError, HostCalls, LaunchSpec, Run};
use sandbox_process::{Config, Floor, Pool, Process, Profile, Requirement, python};
use serde_json::value::RawValue;
use tokio::time::Instant;
use types::{Limits, SessionId, Status};

use crate::echo::Echo;
use crate::figures::{Figure, Samples};
use crate::place::Placement;

/// Bytes of a small frame, as `1 + 1` and its answer have.
const FRAME: usize = 48;
/// Calls that a program makes at once.
const GATHERED: usize = 100;
/// Pause between sessions.
const SETTLE: Duration = Duration::from_millis(20);
/// A first program that the data profile serves.
const DATA: &str = "import pandas\nprint(1 + 1)";
const PLAIN: &str = "print(1 + 1)";

/// A backend with warm zygotes.
pub struct Bench {
    backend: Process,
    placement: Placement,
    samples: usize,
    python: String,
}

/// Answers every call with its arguments, at once.
struct Immediate;

impl HostCalls for Immediate {
    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        let answer = serde_json::value::to_raw_value(&call.args).map_err(|error| HostCallError {
            kind: "upstream".to_owned(),
            message: error.to_string(),
            hint: None,
            retryable: false,
        });
        Box::pin(async move { answer })
    }
}

impl Bench {
    /// Warms the zygotes where they are to run, then goes where the host is to run.
    pub async fn new(data: &Path, placement: Placement, samples: usize) -> Result<Self> {
        let settings = python::Settings {
            path: None,
            search_path: search_path(),
        };
        let found = python::discover(&settings, data).interpreter;
        let Some(interpreter) = found else {
            bail!("no Python was found")
        };
        let backend = Process::new(Config {
            data: data.to_owned(),
            python: settings,
            profile: Profile::Auto,
            require: Requirement::SingleTenant,
            limits: Limits::default(),
            helper: vec![std::env::current_exe()?.into()],
            floor: Floor::Offered,
            // Fresh sessions are what is measured here.
            pool: Pool { most: 0, ..Pool::default() },
            mounts: Vec::new(),
            owner: None,
        });
        let bench = Self {
            backend,
            placement,
            samples,
            python: interpreter.executable.display().to_string(),
        };
        // Twice: the second comes from a zygote whose self-test is over or under way with the first.
        for code in [PLAIN, DATA, PLAIN, DATA] {
            bench.session(code, Floor::Refused).await?;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        placement.for_host()?;
        Ok(bench)
    }

    /// Fresh sessions to their first output, beside the floor on the same zygote.
    pub async fn fresh(&self) -> Result<Vec<Figure>> {
        let mut figures = Vec::new();
        for (name, code) in [("plain", PLAIN), ("numpy and pandas", DATA)] {
            let (mut floor, mut fresh) = (Samples::default(), Samples::default());
            for _ in 0..self.samples {
                floor.push(self.session(code, Floor::Offered).await?);
                fresh.push(self.session(code, Floor::Refused).await?);
            }
            let floor = floor.figure(&format!("F: unconfined clone, {name}"), self.placement);
            figures.push(fresh.figure_over(&format!("fresh session, {name}"), &floor));
            figures.insert(figures.len() - 1, floor);
        }
        Ok(figures)
    }

    /// Runs in a live session, beside a round trip.
    pub async fn live(&self) -> Result<Vec<Figure>> {
        let mut echo = Echo::start(&self.python)?;
        let mut guest = self.guest(PLAIN, Floor::Refused).await?;
        let (mut floor, mut live) = (Samples::default(), Samples::default());
        for _ in 0..self.samples {
            floor.push(echo.round_trip(FRAME).await?);
            let started = Instant::now();
            execute(guest.as_mut(), "1 + 1").await?;
            live.push(started.elapsed());
        }
        guest.close().await;
        echo.stop()?;
        let floor = floor.figure("P: round trip to a warm Python", self.placement);
        let live = live.figure_over("run in a live session, host side", &floor);
        Ok(vec![floor, live])
    }

    /// Host calls one by one and gathered, beside a round trip.
    pub async fn calls(&self) -> Result<Vec<Figure>> {
        const EACH: usize = 50;
        let one_by_one = format!("for n in range({EACH}):\n    tools.bench.echo(n=n)");
        let one_by_one = one_by_one.replace("    tools", "    await tools");
        let gathered = format!(
            "import asyncio\nawait asyncio.gather(*[tools.bench.echo(n=n) for n in range({GATHERED})])"
        );
        let mut echo = Echo::start(&self.python)?;
        let mut guest = self.guest(PLAIN, Floor::Refused).await?;
        let (mut floor, mut call, mut gather) = (Samples::default(), Samples::default(), Samples::default());
        for _ in 0..self.samples.div_ceil(10).max(10) {
            for _ in 0..EACH {
                floor.push(echo.round_trip(FRAME).await?);
            }
            let started = Instant::now();
            execute(guest.as_mut(), &one_by_one).await?;
            call.push(started.elapsed() / u32::try_from(EACH)?);
            let started = Instant::now();
            execute(guest.as_mut(), &gathered).await?;
            gather.push(started.elapsed());
        }
        guest.close().await;
        echo.stop()?;
        let floor = floor.figure("P: round trip to a warm Python", self.placement);
        let call = call.figure_over("host call, awaited one by one", &floor);
        let gather = gather.figure("100 gathered host calls", self.placement);
        Ok(vec![floor, call, gather])
    }

    /// Time of a session from its request to its first output.
    async fn session(&self, code: &str, floor: Floor) -> Result<Duration> {
        let started = Instant::now();
        let mut guest = self.guest(code, floor).await?;
        execute(guest.as_mut(), code).await?;
        let took = started.elapsed();
        guest.close().await;
        // What is cleaned up and prepared behind a session must not be part of the next one's figure.
        tokio::time::sleep(SETTLE).await;
        Ok(took)
    }

    async fn guest(&self, code: &str, floor: Floor) -> Result<Box<dyn Guest>> {
        let spec = LaunchSpec {
            session: SessionId::new("bench"),
            limits: Limits::default(),
            first_code: code.to_owned(),
            files: Vec::new(),
        };
        Ok(match floor {
            Floor::Refused => self.backend.launch(spec).await?,
            Floor::Offered => self.backend.launch_floor(spec).await?,
        })
    }
}

async fn execute(guest: &mut dyn Guest, code: &str) -> Result<()> {
    let run = Run {
        code: code.to_owned(),
        wall_time: Duration::from_secs(60),
        cancel: Default::default(),
        exceeded: Default::default(),
    };
    let outcome = guest.execute(run, Arc::new(Immediate)).await;
    if outcome.status != Status::Completed {
        bail!("{code:?}: {:?}", outcome.error);
    }
    Ok(())
}

fn search_path() -> Option<std::ffi::OsString> {
    std::env::var_os("PATH")
}
