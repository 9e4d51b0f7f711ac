//! Stages of the backend `landlock`: with and without control groups; its sessions are always fresh.

use attack::{Controls, Means, Stage};
use sandbox::Backend as _;
use sandbox_host::{HostConfig, HostFacts};
use sandbox_landlock::Landlock;

use super::{Error, PLAIN, Scene};

/// Attacks the backend in each mode available to this user.
pub(super) async fn attack(scene: &mut Scene<'_>, base: &HostConfig) -> Result<(), Error> {
    let mut attacked = None;
    for without_cgroups in [false, true] {
        let backend = Landlock::new(HostConfig {
            without_cgroups,
            ..base.clone()
        });
        let facts = backend.facts().await;
        let is_another = |facts: &HostFacts| attacked != Some(facts.mode);
        // The first mode must serve; for a weaker one that does not, the report says why.
        let facts = match facts {
            Err(error) if attacked.is_some() => {
                scene.report.not_offered.push(error.to_string());
                None
            }
            facts => Some(facts?),
        };
        if let Some(facts) = facts.filter(is_another) {
            let mut controls = Controls::new(facts.python.clone());
            let means = Means {
                own_users: facts.user_per_session,
                groups: facts.cgroups,
                overlays: false,
                namespaces: false,
                is_root: rustix::process::geteuid().is_root(),
            };
            attacked = Some(facts.mode);
            let stage = stage(&backend, &facts);
            scene.on_stage(&backend, stage, means, None, &mut controls).await;
        }
        backend.close().await;
    }
    Ok(())
}

fn stage(backend: &Landlock, facts: &HostFacts) -> Stage {
    // The report names the backend in another column.
    let mode = facts.mode.trim_start_matches("landlock, ");
    Stage {
        backend: backend.name().to_owned(),
        mode: mode.to_owned(),
        profile: PLAIN.to_owned(),
        session: "fresh".to_owned(),
    }
}
