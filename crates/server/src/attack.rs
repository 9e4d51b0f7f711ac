//! `codeyard doctor --attack`: every probe on every stage that this user has on this machine.
//!
//! A stage is a mode of the machine, a profile and whether sessions stand ready before they are asked for. Weaker modes
//! than the best are entered on purpose, by leaving means aside.

use std::path::{Path, PathBuf};

use attack::{Controls, Means, Probe, Target};
use sandbox::{Backend as _, LaunchError};
use sandbox_process::doctor::overlay;
use sandbox_process::{Config, Pool, Process, Profile, Standing};
use workspace::Workspaces;

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
    /// The probes say what sessions of another backend must meet.
    #[error(
        "the probes say what sessions of the backend `process` must meet, and `[sandbox] backend` is another; \
         `codeyard doctor` without `--attack` tries what its sessions can do"
    )]
    Backend,
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
    if parts.backend != config::Backend::Process {
        return Err(Error::Backend);
    }
    let chosen = choose(&options.only)?;
    let place = Place(
        parts
            .sandbox
            .data
            .join("run")
            .join(format!("attack-{}", std::process::id())),
    );
    let workspaces = workspace::Config {
        owner: parts.workspace.owner,
        ..workspace::Config::below(&place.0)
    };
    let base = Config {
        limits: attack::limits(),
        owner: workspaces.owner_on_disk(),
        mounts: vec![attack::MOUNT.to_owned()],
        ..parts.sandbox
    };
    let standing = look(&base).await?;
    let mut controls = Controls::new(standing.python.clone());
    let mut report = Report::default();
    let (variants, not_offered) = variants(&base, &standing).await;
    report.not_offered = not_offered;
    for variant in variants {
        let config = variant.configure(&base);
        let backend = Process::new(config.clone());
        let standing = backend.standing().await?;
        backend.warm();
        let stage = variant.stage(&backend, &standing);
        let ready = || backend.ready() > 0;
        let workspaces = Workspaces::new(workspaces.clone());
        let target = Target {
            backend: &backend,
            means: Means {
                own_users: standing.own_users,
                groups: standing.groups,
                overlays: overlay(&config).await?.is_none(),
                is_root: rustix::process::geteuid().is_root(),
            },
            ready: variant.pooled.then_some(&ready),
            workspaces: &workspaces,
            directory: &place.0.join("workspaces"),
            secrets: options.secrets.clone(),
            stage,
        };
        let attacked = on_stage(&chosen, &target, &mut controls, &mut report, &mut told).await;
        backend.close().await;
        if let Err(failed) = attacked {
            report.failed.push(failed);
        }
    }
    Ok(report)
}

/// All probes on one stage; or which could not be run, and why.
async fn on_stage(
    chosen: &[Probe],
    target: &Target<'_>,
    controls: &mut Controls,
    report: &mut Report,
    told: &mut impl FnMut(&Row),
) -> Result<(), String> {
    for probe in chosen {
        let row = attack::attack(probe, target, controls)
            .await
            .map_err(|cause| format!("{} ({}): {cause}", probe.name, target.stage))?;
        told(&row);
        report.rows.push(row);
    }
    Ok(())
}

fn choose(only: &[String]) -> Result<Vec<Probe>, Error> {
    let mut all = probes()?;
    if let Some(unknown) = only
        .iter()
        .find(|name| !all.iter().any(|probe| probe.name == **name))
    {
        return Err(Error::Unknown(unknown.clone()));
    }
    all.retain(|probe| only.is_empty() || only.iter().any(|name| name == probe.name));
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
