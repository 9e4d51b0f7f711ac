//! The backend: profiles, their zygotes, and launches.

use std::sync::{Arc, PoisonError};

use sandbox::{Backend, BoxFuture, Conversation, Guest, LaunchError, LaunchSpec};
use tokio::sync::{Mutex, OnceCell};
use tokio::task::JoinHandle;
use types::Limits;

use crate::config::{Config, Floor, Profile, Requirement};
use crate::mode::{Mode, Refusal};
use crate::provisions::Provisions;
use crate::python::{self, Environment, Interpreter};
use crate::selftest;
use crate::station::{Station, StationError};

/// Libraries whose import makes a session's first program one for the `data` profile: numpy, pandas and what needs them.
const DATA_LIBRARIES: [&str; 9] = [
    "numpy",
    "pandas",
    "matplotlib",
    "sklearn",
    "scipy",
    "seaborn",
    "statsmodels",
    "polars",
    "openpyxl",
];
/// How often a launch is tried again on a new zygote when the old one is found dead.
const ATTEMPTS: u32 = 2;

/// The `process` backend. Clones are handles of the same one.
#[derive(Debug, Clone)]
pub struct Process {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: Config,
    ground: OnceCell<Result<Ground, LaunchError>>,
    plain: Mutex<Option<Arc<Station>>>,
    data: Mutex<Option<Arc<Station>>>,
    self_tests: std::sync::Mutex<Vec<JoinHandle<()>>>,
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
            self_tests: std::sync::Mutex::default(),
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

    pub(crate) async fn ground(&self) -> Result<&Ground, LaunchError> {
        self.inner.ground().await
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

    fn launch(&self, spec: LaunchSpec) -> BoxFuture<'_, Result<Box<dyn Guest>, LaunchError>> {
        Box::pin(self.inner.launch(spec, Floor::Refused))
    }

    fn warm(&self) {
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move {
            // A failure shows, with its reason, at the launch that needs the zygote.
            let Ok(ground) = inner.ground().await else { return };
            if inner.config.profile != Profile::Data {
                let _ = inner.station(ground, Profile::Plain).await;
            }
            if inner.config.profile != Profile::Plain && ground.has_data() {
                let _ = inner.station(ground, Profile::Data).await;
            }
        });
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.inner.close())
    }
}

impl Inner {
    async fn launch(&self, spec: LaunchSpec, floor: Floor) -> Result<Box<dyn Guest>, LaunchError> {
        let ground = self.ground().await?;
        let limits = ground.mode.binding(&spec.limits);
        let profile = self.profile(ground, &spec.first_code);
        let mut attempt = 1;
        loop {
            let station = self.station(ground, profile).await.map_err(failed)?;
            let started = match floor {
                Floor::Refused => station.start(&ground.provisions, &limits).await,
                Floor::Offered => station.start_floor(&ground.provisions, &limits).await,
            };
            match started {
                Ok((channels, leash)) => {
                    let session = spec.session.to_string();
                    return Ok(Box::new(Conversation::new(channels, leash, limits, session)));
                }
                Err(StationError::Gone) if attempt < ATTEMPTS => {
                    attempt += 1;
                    self.forget(profile, &station).await;
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Ends the zygotes and removes all control groups.
    async fn close(&self) {
        let Some(Ok(ground)) = self.ground.get() else {
            return;
        };
        let self_tests = std::mem::take(&mut *self.self_tests.lock().unwrap_or_else(PoisonError::into_inner));
        for self_test in self_tests {
            self_test.abort();
            // What it says of its own end is of no interest any more.
            let _ = self_test.await;
        }
        // One that is just being launched ends with this process.
        let stations =
            [&self.plain, &self.data].map(|place| place.try_lock().ok().and_then(|mut place| place.take()));
        let provisions = Arc::clone(&ground.provisions);
        let closed = tokio::task::spawn_blocking(move || {
            drop(stations);
            provisions.close();
        });
        if closed.await.is_err() {
            tracing::warn!("the zygotes could not be ended in order; they end with this process");
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

    /// The zygote of a profile, launched if there is none.
    async fn station(&self, ground: &Ground, profile: Profile) -> Result<Arc<Station>, StationError> {
        let (place, name) = self.place(profile);
        let mut place = place.lock().await;
        if let Some(station) = &*place {
            return Ok(Arc::clone(station));
        }
        let mode = Arc::clone(&ground.mode);
        let opened = Station::open(
            &self.config,
            mode,
            &ground.interpreter,
            ground.environment.as_ref(),
            name,
        )
        .await;
        let station = Arc::new(opened?);
        tracing::debug!(profile = name, python = station.greeting.python, "zygote ready");
        *place = Some(Arc::clone(&station));
        let self_test = tokio::spawn(selftest::run(
            Arc::clone(&station),
            Arc::clone(&ground.provisions),
            self.config.limits.clone(),
        ));
        self.self_tests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(self_test);
        Ok(station)
    }

    /// Drops a dead zygote, unless another one has taken its place already.
    async fn forget(&self, profile: Profile, dead: &Arc<Station>) {
        let mut place = self.place(profile).0.lock().await;
        if place.as_ref().is_some_and(|station| Arc::ptr_eq(station, dead)) {
            tracing::warn!("a zygote died; its sessions are lost and a new one takes its place");
            *place = None;
        }
    }

    fn place(&self, profile: Profile) -> (&Mutex<Option<Arc<Station>>>, &'static str) {
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
    let mode = Mode::enter(config.require, &config.data).map_err(refused)?;
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
        provisions: Provisions::new(Arc::clone(&mode), &config.limits),
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
