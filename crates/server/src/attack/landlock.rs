//! The stages of the backend `landlock`: with control groups and without them; its sessions are always fresh.

use attack::{Controls, Means, Stage};
use sandbox::{Backend as _, LaunchError};
use sandbox_landlock::{Landlock, Standing};
use sandbox_process::Config;

use super::{Error, Scene};

/// Attacks it in each of its modes that this user has.
pub(super) async fn attack(scene: &mut Scene<'_>, base: &Config) -> Result<(), Error> {
    let mut attacked = None;
    for without_groups in [false, true] {
        let backend = Landlock::new(Config {
            without_groups,
            ..base.clone()
        });
        let standing = backend.standing().await;
        let is_another = |standing: &Standing| attacked != Some(standing.mode);
        if let Some(standing) = offered(standing, attacked.is_some(), scene)?.filter(is_another) {
            let mut controls = Controls::new(standing.python.clone());
            let means = Means {
                own_users: standing.own_users,
                groups: standing.groups,
                overlays: false,
                is_root: rustix::process::geteuid().is_root(),
            };
            attacked = Some(standing.mode);
            let stage = stage(&backend, &standing);
            scene.on_stage(&backend, stage, means, None, &mut controls).await;
        }
        backend.close().await;
    }
    Ok(())
}

/// The first mode must serve; where a weaker one does not, the report says why.
fn offered(
    standing: Result<Standing, LaunchError>,
    has_attacked: bool,
    scene: &mut Scene<'_>,
) -> Result<Option<Standing>, Error> {
    match standing {
        Err(error) if has_attacked => {
            scene.report.not_offered.push(error.to_string());
            Ok(None)
        }
        standing => Ok(Some(standing?)),
    }
}

fn stage(backend: &Landlock, standing: &Standing) -> Stage {
    // The backend is named beside it.
    let mode = standing.mode.trim_start_matches("landlock, ");
    Stage {
        backend: backend.name().to_owned(),
        mode: mode.to_owned(),
        profile: "plain".to_owned(),
        session: "fresh".to_owned(),
    }
}
