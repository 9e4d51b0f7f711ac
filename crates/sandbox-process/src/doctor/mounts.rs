//! Whether read-only folders of the user's are seen through overlays: each is attached to a session, or one of the doctor's own.

use std::path::PathBuf;

use sandbox::{Access, Attachment, Backend as _, LaunchError, LaunchSpec};
use types::{Limits, SessionId};

use super::files::Place;
use super::{Check, State};
use crate::backend::Process;
use crate::config::{Config, Pool};
use crate::guards::{self, Guard};

/// Where the doctor's own folder appears.
const TARGET: &str = "/data";

/// Attaches the folders, or one of the doctor's own; says which have no overlay.
pub(super) async fn check(process: &Process, folders: &[Attachment]) -> (Check, [Guard; 2]) {
    let bare = if folders.is_empty() {
        overlay(process.config()).await
    } else {
        attach(process, folders.to_vec()).await
    };
    match bare {
        Ok(None) => {
            let detail = "read-only folders are seen through overlays, which give bytes and nothing else";
            (Check::ok("mounts", detail.to_owned()), guards::mounts(None))
        }
        Ok(Some(cause)) => {
            let detail = format!("not promised that read-only folders give bytes alone: {cause}");
            let remedy = "mount folders that hold files only; on ext4, xfs, btrfs or tmpfs with overlayfs in the kernel \
                          nothing else can be reached";
            let check = Check::new("mounts", State::Weaker, detail, remedy);
            (check, guards::mounts(Some(&cause)))
        }
        Err(error) => {
            let guards = guards::mounts(Some("no folder could be attached"));
            (Check::missing("mounts", error.to_string()), guards)
        }
    }
}

/// Why a read-only folder of the doctor's own has no overlay under this configuration; `None` if it has one.
///
/// # Errors
/// If no session can be had.
pub async fn overlay(config: &Config) -> Result<Option<String>, LaunchError> {
    let process = Process::new(Config {
        mounts: vec![TARGET.to_owned()],
        pool: Pool {
            most: 0,
            ..config.pool
        },
        ..config.clone()
    });
    let folder =
        Place::new(&config.data, "mounts").map_err(|error| LaunchError::Failed(error.to_string()))?;
    let attachment = Attachment {
        source: folder.0.clone(),
        target: TARGET.to_owned(),
        access: Access::ReadOnly,
    };
    let found = attach(&process, vec![attachment]).await;
    process.close().await;
    found
}

/// Why folders have no overlay; `None` if all have one.
async fn attach(process: &Process, files: Vec<Attachment>) -> Result<Option<String>, LaunchError> {
    let sources: Vec<PathBuf> = files.iter().map(|file| file.source.clone()).collect();
    let spec = LaunchSpec {
        session: SessionId::new("doctor-mounts"),
        limits: Limits::default(),
        first_code: String::new(),
        files,
    };
    process.launch(spec).await?.close().await;
    let bare = |source: &PathBuf| {
        let cause = process.bare(source)?;
        Some(format!("{}: {cause}", source.display()))
    };
    let found: Vec<String> = sources.iter().filter_map(bare).collect();
    Ok((!found.is_empty()).then(|| found.join("; ")))
}
