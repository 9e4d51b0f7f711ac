//! Checks whether sessions can keep files: writes a file in an attached directory and looks for it on disk.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};

use jail::spec::Identity;
use sandbox::{Attachment, AttachmentAccess};
use sandbox_host::doctor::{Check, run_program};

use crate::backend::{HostResources, Process};

const PROGRAM: &str = "open('/workspace/written', 'w').close()";

pub(super) struct TemporaryDirectory(pub(super) PathBuf);

impl TemporaryDirectory {
    pub(super) fn new(data: &Path, name: &str) -> io::Result<Self> {
        let path = data
            .join("run")
            .join(format!("doctor-{name}-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn owned_by(self, (user, group): (u32, u32)) -> io::Result<Self> {
        chown(&self.0, Some(user), Some(group)).map(|()| self)
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // Leftover directories are harmless: their names end in the pid.
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) async fn check(process: &Process, host: &HostResources) -> Check {
    let Some(owner) = process.config().owner else {
        let detail = "`[workspace] enabled = false`: sessions have their files to themselves";
        return Check::ok("files", detail);
    };
    if let Identity::Subordinate { .. } = host.mode.identity {
        return Check::weaker(
            "files",
            "with subordinate ids sessions have their files to themselves",
            "run as root to keep them",
        );
    }
    let written = match TemporaryDirectory::new(&process.config().host.data, "files")
        .and_then(|directory| directory.owned_by(owner))
    {
        Ok(directory) => write(process, &directory).await,
        Err(error) => Err(error.to_string()),
    };
    match written {
        Ok(Some(found)) if found == owner.0 => {
            let detail = format!("/workspace and /results are kept; on disk they belong to user {found}");
            Check::ok("files", detail)
        }
        Ok(_) => Check::weaker(
            "files",
            "the data directory's file system cannot show files as another user's (idmapped mounts), so sessions have \
             their files to themselves",
            "put the data directory on ext4, xfs, btrfs or tmpfs (--data)",
        ),
        Err(error) => Check::missing("files", error),
    }
}

/// The owner on disk of the file that a session wrote; `None` if the file is missing.
async fn write(process: &Process, directory: &TemporaryDirectory) -> Result<Option<u32>, String> {
    let workspace = Attachment {
        source: directory.0.clone(),
        target: "/workspace".to_owned(),
        access: AttachmentAccess::ReadWrite,
    };
    run_program(process, "doctor-files", PROGRAM, vec![workspace]).await?;
    Ok(fs::symlink_metadata(directory.0.join("written"))
        .ok()
        .map(|found| found.uid()))
}
