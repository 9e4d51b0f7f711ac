//! `codeyard doctor --attack`: every probe on every stage that this user has on this machine, for the backend of the settings.
//!
//! A stage is a mode of the machine, a profile and whether sessions stand ready before they are asked for. Weaker modes
//! than the best are entered on purpose, by leaving means aside.

mod landlock;

use std::path::{Path, PathBuf};

use attack::{BETWEEN_RUNS, Controls, Means, Probe, Target, When};
use sandbox::{Backend, LaunchError};
use sandbox_process::doctor::overlay;
use sandbox_process::{Config, Pool, Process, Profile, Standing};
use workspace::{Keeping, Workspaces};

pub use attack::{ProbeError, Report, Row, Stage, Verdict, probes};

/// What to attack.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Names of the probes to run; all if empty.
    pub only: Vec<String>,
    /// Words that no guest may find anywhere, by what they are.
    pub secrets: Vec<(String, String)>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The probes cannot be read.
    #[error(transparent)]
    Probes(#[from] ProbeError),
    /// There is no probe of that name.
    #[error("there is no probe {0}; `codeyard doctor --attack --json` names all that there are")]
    Unknown(String),
    /// The probe says only what sessions of another backend must meet.
    #[error(
        "the probe {0} says what sessions of the backend `process` must meet, and `[sandbox] backend` is `landlock`, which is \
         attacked with `--only between-runs`"
    )]
    OtherBackend(String),
    /// The sandbox refuses to serve at all.
    #[error(transparent)]
    Refused(#[from] LaunchError),
}

/// Means that are left aside, and profile and pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Variant {
    without_groups: bool,
    own_users: bool,
    profile: Profile,
    pooled: bool,
}

/// Attacks; `told` hears of each row as it comes.
///
/// # Errors
/// If the sandbox does not serve, or a probe cannot be run.
pub async fn attack(
    parts: config::Parts,
    options: &Options,
    mut told: impl FnMut(&Row),
) -> Result<Report, Error> {
    let chosen = choose(&options.only, parts.backend)?;
    let place = Place(
        parts
            .sandbox
            .data
            .join("run")
            .join(format!("attack-{}", std::process::id())),
    );
    let keeping = match parts.backend {
        config::Backend::Landlock if !sandbox_landlock::keeps_files() => Keeping::Own,
        _ => Keeping::default(),
    };
    let workspaces = workspace::Config {
        keeping,
        owner: parts.workspace.owner,
        ..workspace::Config::below(&place.0)
    };
    let base = Config {
        limits: attack::limits(),
        owner: workspaces.owner_on_disk(),
        mounts: vec![attack::MOUNT.to_owned()],
        ..parts.sandbox
    };
    let mut scene = Scene {
        chosen: &chosen,
        workspaces,
        directory: place.0.join("workspaces"),
        secrets: &options.secrets,
        report: Report::default(),
        told: &mut told,
    };
    match parts.backend {
        config::Backend::Process => scene.attack_process(&base).await?,
        config::Backend::Landlock => landlock::attack(&mut scene, &base).await?,
    }
    Ok(scene.report)
}

/// What is the same on all stages, and what has come of them.
struct Scene<'a> {
    chosen: &'a [Probe],
    workspaces: workspace::Config,
    directory: PathBuf,
    secrets: &'a [(String, String)],
    report: Report,
    told: &'a mut dyn FnMut(&Row),
}

impl Scene<'_> {
    async fn attack_process(&mut self, base: &Config) -> Result<(), Error> {
        let standing = look(base).await?;
        let mut controls = Controls::new(standing.python.clone());
        let (variants, not_offered) = variants(base, &standing).await;
        self.report.not_offered = not_offered;
        for variant in variants {
            let config = variant.configure(base);
            let backend = Process::new(config.clone());
            let standing = backend.standing().await?;
            backend.warm();
            let means = Means {
                own_users: standing.own_users,
                groups: standing.groups,
                overlays: overlay(&config).await?.is_none(),
                is_root: rustix::process::geteuid().is_root(),
            };
            let ready = || backend.ready() > 0;
            let ready: Option<&(dyn Fn() -> bool + Sync)> = if variant.pooled { Some(&ready) } else { None };
            let stage = variant.stage(&backend, &standing);
            self.on_stage(&backend, stage, means, ready, &mut controls).await;
            backend.close().await;
        }
        Ok(())
    }

    /// All probes on one stage; the report says which could not be run, and why.
    async fn on_stage(
        &mut self,
        backend: &dyn Backend,
        stage: Stage,
        means: Means,
        ready: Option<&(dyn Fn() -> bool + Sync)>,
        controls: &mut Controls,
    ) {
        let workspaces = Workspaces::new(self.workspaces.clone());
        let target = Target {
            backend,
            stage,
            means,
            ready,
            workspaces: &workspaces,
            directory: &self.directory,
            secrets: self.secrets.to_vec(),
        };
        for probe in self.chosen {
            match attack::attack(probe, &target, controls).await {
                Ok(row) => {
                    (self.told)(&row);
                    self.report.rows.push(row);
                }
                Err(cause) => {
                    let failed = format!("{} ({}): {cause}", probe.name, target.stage);
                    self.report.failed.push(failed);
                    return;
                }
            }
        }
    }
}

/// The probes of these names that this backend is attacked with: all if none is named, and a whole group by its name.
fn choose(only: &[String], backend: config::Backend) -> Result<Vec<Probe>, Error> {
    let mut all = probes()?;
    let is_named = |probe: &Probe, name: &String| {
        probe.name == *name || (*name == BETWEEN_RUNS && probe.when == When::Between)
    };
    let meets = |probe: &Probe| backend == config::Backend::Process || probe.plan.landlock;
    for name in only {
        if !all.iter().any(|probe| is_named(probe, name)) {
            return Err(Error::Unknown(name.clone()));
        }
        if !all.iter().any(|probe| is_named(probe, name) && meets(probe)) {
            return Err(Error::OtherBackend(name.clone()));
        }
    }
    all.retain(|probe| meets(probe) && (only.is_empty() || only.iter().any(|name| is_named(probe, name))));
    Ok(all)
}

/// What these settings stand on.
async fn look(config: &Config) -> Result<Standing, LaunchError> {
    let process = Process::new(config.clone());
    let standing = process.standing().await;
    process.close().await;
    standing
}

/// Every stage of this user, and why there are not more.
async fn variants(base: &Config, standing: &Standing) -> (Vec<Variant>, Vec<String>) {
    let mut modes: Vec<(&str, bool, bool)> = Vec::new();
    let mut not_offered = Vec::new();
    for (without_groups, own_users) in [(false, false), (true, false), (false, true), (true, true)] {
        let config = Config {
            without_groups,
            own_users,
            ..base.clone()
        };
        // Entered and left again: its name says whether it is another one.
        match look(&config).await {
            Ok(standing) if modes.iter().all(|(name, ..)| *name != standing.mode) => {
                modes.push((standing.mode, without_groups, own_users));
            }
            Ok(_) => {}
            Err(error) => not_offered.push(error.to_string()),
        }
    }
    if !standing.has_data {
        not_offered.push("the profile data: `codeyard python sync` installs numpy and pandas".to_owned());
    }
    let profiles = [Profile::Plain, Profile::Data];
    let profiles = &profiles[..if standing.has_data { 2 } else { 1 }];
    let mut variants = Vec::new();
    for (_, without_groups, own_users) in modes {
        for profile in profiles {
            for pooled in [false, true] {
                variants.push(Variant {
                    without_groups,
                    own_users,
                    profile: *profile,
                    pooled,
                });
            }
        }
    }
    (variants, not_offered)
}

impl Variant {
    fn configure(self, base: &Config) -> Config {
        Config {
            without_groups: self.without_groups,
            own_users: self.own_users,
            profile: self.profile,
            pool: Pool {
                most: if self.pooled { 2 } else { 0 },
                ..base.pool
            },
            ..base.clone()
        }
    }

    fn stage(self, backend: &Process, standing: &Standing) -> Stage {
        let profile = match self.profile {
            Profile::Data => "data",
            Profile::Plain | Profile::Auto => "plain",
        };
        Stage {
            backend: backend.name().to_owned(),
            mode: standing.mode.to_owned(),
            profile: profile.to_owned(),
            session: if self.pooled { "pooled" } else { "fresh" }.to_owned(),
        }
    }
}

/// The directory of the files of an attack; it goes when the attack is over.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Removes what probes left.
fn remove(directory: &Path) {
    // What cannot be removed is told by its name, which has this process's number.
    if let Err(error) = std::fs::remove_dir_all(directory)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, directory = %directory.display(), "files of the attack stay");
    }
}
