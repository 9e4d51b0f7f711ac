//! `codeyard doctor --attack`: runs every probe on every stage available to this user, for the
//! configured backend.
//!
//! A stage is a combination of a sandbox mode, a limits profile, and pooled or fresh sessions. The attack enters
//! weaker modes on purpose, by turning mechanisms off.

mod landlock;

use std::path::{Path, PathBuf};

use attack::{BETWEEN_RUNS, Controls, Means, Probe, Target, TenantPrincipal, When};
use sandbox::{Backend, LaunchError};
use sandbox_host::HostFacts;
use sandbox_process::doctor::why_without_overlay;
use sandbox_process::{PoolConfig, Process, ProcessConfig, Profile};
use types::Language;
use workspace::{Keeping, Workspaces};

use crate::guest_files::with_guest_files;

pub use attack::{ProbeError, Report, Row, Stage, Verdict, probes};

/// The name of the profile without further packages in the report.
const PLAIN: &str = "plain";

/// What to attack.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names of the probes; empty runs all.
    pub only: Vec<String>,
    /// The tenant that owns the sessions of the attack.
    pub principal: TenantPrincipal,
    /// Words that must be invisible to every guest: the meaning of each word, and the word.
    pub secrets: Vec<(String, String)>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The probes cannot be read.
    #[error(transparent)]
    Probes(#[from] ProbeError),
    /// No probe has this name.
    #[error("there is no probe {0}; `codeyard doctor --attack --json` lists all probes")]
    Unknown(String),
    /// The probe has expectations only for another backend.
    #[error(
        "the probe {0} attacks the backend `process`, and `[sandbox] backend` is `landlock`; omit `--only` to attack that one"
    )]
    OtherBackend(String),
    /// The sandbox refuses to serve.
    #[error(transparent)]
    Refused(#[from] LaunchError),
}

/// Mechanisms that are turned off, the profile, and the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Variant {
    without_cgroups: bool,
    user_per_session: bool,
    profile: Profile,
    pooled: bool,
}

/// Runs the attack; `told` receives each row as soon as it is ready.
///
/// # Errors
/// If the sandbox does not serve, or a probe cannot be run.
pub async fn attack(
    parts: settings::Parts,
    options: &Options,
    mut told: impl FnMut(&Row),
) -> Result<Report, Error> {
    let chosen = choose(&options.only, parts.backend)?;
    let place = ScratchDirectory(
        parts
            .sandbox
            .host
            .data
            .join("run")
            .join(format!("attack-{}", std::process::id())),
    );
    let keeping = match parts.backend {
        settings::Backend::Landlock if !sandbox_landlock::keeps_files() => Keeping::Own,
        _ => Keeping::default(),
    };
    let workspaces = workspace::WorkspaceConfig {
        keeping,
        owner: parts.workspace.owner,
        ..workspace::WorkspaceConfig::below(&place.0)
    };
    let base = with_guest_files(ProcessConfig {
        host: sandbox_host::HostConfig {
            limits: attack::limits(),
            ..parts.sandbox.host
        },
        owner: workspaces.owner_on_disk(),
        mounts: vec![attack::MOUNT.to_owned()],
        ..parts.sandbox
    });
    let mut scene = Scene {
        chosen: &chosen,
        workspaces,
        directory: place.0.join("workspaces"),
        principal: options.principal,
        secrets: &options.secrets,
        report: Report::default(),
        told: &mut told,
    };
    match parts.backend {
        settings::Backend::Process => scene.attack_process(&base).await?,
        settings::Backend::Landlock => landlock::attack(&mut scene, &base.host).await?,
    }
    Ok(scene.report)
}

/// The constants of all stages, and the results so far.
struct Scene<'a> {
    chosen: &'a [Probe],
    workspaces: workspace::WorkspaceConfig,
    directory: PathBuf,
    principal: TenantPrincipal,
    secrets: &'a [(String, String)],
    report: Report,
    told: &'a mut dyn FnMut(&Row),
}

impl Scene<'_> {
    async fn attack_process(&mut self, base: &ProcessConfig) -> Result<(), Error> {
        let facts = host_facts(base).await?;
        let mut controls = Controls::new(facts.python.clone());
        let (variants, not_offered) = variants(base, &facts).await;
        self.report.not_offered = not_offered;
        for variant in variants {
            let config = variant.configure(base);
            let backend = Process::new(config.clone());
            let facts = backend.facts().await?;
            backend.warm();
            let means = Means {
                own_users: facts.user_per_session,
                groups: facts.cgroups,
                overlays: why_without_overlay(&config).await?.is_none(),
                namespaces: true,
                is_root: rustix::process::geteuid().is_root(),
            };
            let ready = || backend.idle() > 0;
            let ready: Option<&(dyn Fn() -> bool + Sync)> = if variant.pooled { Some(&ready) } else { None };
            let stage = variant.stage(&backend, &facts);
            self.on_stage(&backend, stage, means, ready, &mut controls).await;
            backend.close().await;
        }
        Ok(())
    }

    /// Runs all probes on one stage; the report names those that could not run, and why.
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
            principal: self.principal,
            secrets: self.secrets.to_vec(),
        };
        for probe in self.chosen {
            // The profile `data` adds packages to Python alone.
            if probe.plan.language != Language::Python && target.stage.profile != PLAIN {
                continue;
            }
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

/// Selects this backend's probes by probe or group name; no name selects all.
fn choose(only: &[String], backend: settings::Backend) -> Result<Vec<Probe>, Error> {
    let mut all = probes()?;
    let is_named = |probe: &Probe, name: &String| {
        probe.name == *name || (*name == BETWEEN_RUNS && probe.when == When::Between)
    };
    let meets = |probe: &Probe| backend == settings::Backend::Process || probe.plan.landlock;
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

/// The backend's facts about this machine under these settings.
async fn host_facts(config: &ProcessConfig) -> Result<HostFacts, LaunchError> {
    let process = Process::new(config.clone());
    let facts = process.facts().await;
    process.close().await;
    facts
}

/// Every stage available to this user, and why the other stages are unavailable.
async fn variants(base: &ProcessConfig, facts: &HostFacts) -> (Vec<Variant>, Vec<String>) {
    let mut modes: Vec<(&str, bool, bool)> = Vec::new();
    let mut not_offered = Vec::new();
    for (without_cgroups, user_per_session) in [(false, false), (true, false), (false, true), (true, true)] {
        let variant = Variant {
            without_cgroups,
            user_per_session,
            profile: base.profile,
            pooled: false,
        };
        // Launch and end a guest once: the resulting mode shows whether the stage is new.
        match host_facts(&variant.configure(base)).await {
            Ok(facts) if modes.iter().all(|(name, ..)| *name != facts.mode) => {
                modes.push((facts.mode, without_cgroups, user_per_session));
            }
            Ok(_) => {}
            Err(error) => not_offered.push(error.to_string()),
        }
    }
    if !facts.has_data_packages {
        not_offered.push("the profile data: `codeyard python sync` installs numpy and pandas".to_owned());
    }
    let profiles = [Profile::Plain, Profile::Data];
    let profiles = &profiles[..if facts.has_data_packages { 2 } else { 1 }];
    let mut variants = Vec::new();
    for (_, without_cgroups, user_per_session) in modes {
        for profile in profiles {
            for pooled in [false, true] {
                variants.push(Variant {
                    without_cgroups,
                    user_per_session,
                    profile: *profile,
                    pooled,
                });
            }
        }
    }
    (variants, not_offered)
}

impl Variant {
    fn configure(self, base: &ProcessConfig) -> ProcessConfig {
        ProcessConfig {
            host: sandbox_host::HostConfig {
                without_cgroups: self.without_cgroups,
                ..base.host.clone()
            },
            user_per_session: self.user_per_session,
            profile: self.profile,
            pool: PoolConfig {
                max_idle: if self.pooled { 2 } else { 0 },
                ..base.pool
            },
            ..base.clone()
        }
    }

    fn stage(self, backend: &Process, facts: &HostFacts) -> Stage {
        let profile = match self.profile {
            Profile::Data => "data",
            Profile::Plain | Profile::Auto => PLAIN,
        };
        Stage {
            backend: backend.name().to_owned(),
            mode: facts.mode.to_owned(),
            profile: profile.to_owned(),
            session: if self.pooled { "pooled" } else { "fresh" }.to_owned(),
        }
    }
}

/// Files of an attack, removed when it ends.
struct ScratchDirectory(PathBuf);

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(directory: &Path) {
    // Report a failed removal; the directory's name contains this process's number.
    if let Err(error) = std::fs::remove_dir_all(directory)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, directory = %directory.display(), "files of the attack stay");
    }
}
