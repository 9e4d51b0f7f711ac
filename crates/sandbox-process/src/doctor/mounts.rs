//! Checks whether sessions see read-only folders through overlays.

use std::path::PathBuf;

use sandbox::{Attachment, AttachmentAccess, Backend as _, LaunchError, LaunchSpec};
use sandbox_host::doctor::{Check, Guard};
use types::{Language, Limits, SessionId};

use super::files::TemporaryDirectory;
use crate::backend::Process;
use crate::config::{PoolConfig, ProcessConfig};
use crate::guards;

/// Target of the temporary folder.
const TARGET: &str = "/data";

/// Attaches the folders of the settings, or a temporary one if there are none.
pub(super) async fn check(process: &Process, folders: &[Attachment]) -> (Check, [Guard; 2]) {
    let without_overlay = if folders.is_empty() {
        why_without_overlay(process.config()).await
    } else {
        attach(process, folders.to_vec()).await
    };
    match without_overlay {
        Ok(None) => {
            let detail = "read-only folders are seen through overlays, which give bytes and nothing else";
            (Check::ok("mounts", detail), guards::mounts(None))
        }
        Ok(Some(cause)) => {
            let detail = format!("not promised that read-only folders give bytes alone: {cause}");
            let remedy = "mount folders that hold files only; on ext4, xfs, btrfs or tmpfs with overlayfs in the kernel \
                          nothing else can be reached";
            let check = Check::weaker("mounts", detail, remedy);
            (check, guards::mounts(Some(&cause)))
        }
        Err(error) => {
            let guards = guards::mounts(Some("no folder could be attached"));
            (Check::missing("mounts", error.to_string()), guards)
        }
    }
}

/// Why sessions of this configuration see a read-only folder without an overlay; `None` if it has one.
///
/// # Errors
/// If no session can be started.
pub async fn why_without_overlay(config: &ProcessConfig) -> Result<Option<String>, LaunchError> {
    let process = Process::new(ProcessConfig {
        mounts: vec![TARGET.to_owned()],
        pool: PoolConfig {
            max_idle: 0,
            ..config.pool
        },
        ..config.clone()
    });
    let folder = TemporaryDirectory::new(&config.host.data, "mounts")
        .map_err(|error| LaunchError::Failed(error.to_string()))?;
    let attachment = Attachment {
        source: folder.0.clone(),
        target: TARGET.to_owned(),
        access: AttachmentAccess::ReadOnly,
    };
    let found = attach(&process, vec![attachment]).await;
    process.close().await;
    found
}

async fn attach(process: &Process, files: Vec<Attachment>) -> Result<Option<String>, LaunchError> {
    let sources: Vec<PathBuf> = files.iter().map(|file| file.source.clone()).collect();
    let spec = LaunchSpec {
        session: SessionId::new("doctor-mounts"),
        limits: Limits::default(),
        language: Language::Python,
        first_code: String::new(),
        files,
    };
    process.launch(spec).await?.close().await;
    let reason = |source: &PathBuf| {
        let cause = process.why_without_overlay(source)?;
        Some(format!("{}: {cause}", source.display()))
    };
    let found: Vec<String> = sources.iter().filter_map(reason).collect();
    Ok((!found.is_empty()).then(|| found.join("; ")))
}
