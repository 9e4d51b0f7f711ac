//! Whether sessions can keep files: one writes a file through an attached directory, and it must lie on the disk.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};

use jail::spec::Identity;
use sandbox::{Access, Attachment, Backend as _, LaunchSpec, Run};
use types::{Limits, SessionId};

use super::{Check, PATIENCE, State};
use crate::backend::{Ground, Process};

/// Writes the file that is looked for.
const PROGRAM: &str = "open('/workspace/written', 'w').close()";

/// A directory that goes when it is done.
pub(super) struct Place(pub(super) PathBuf);

impl Place {
    pub(super) fn new(data: &Path, name: &str) -> io::Result<Self> {
        let path = data
            .join("run")
            .join(format!("doctor-{name}-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn of(self, (user, group): (u32, u32)) -> io::Result<Self> {
        chown(&self.0, Some(user), Some(group)).map(|()| self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What stays is an empty directory of this process's number.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Tries it.
pub(super) async fn check(process: &Process, ground: &Ground) -> Check {
    let Some(owner) = process.owner() else {
        let detail = "`[workspace] enabled = false`: sessions have their files to themselves";
        return Check::ok("files", detail.to_owned());
    };
    if let Identity::Subordinate { .. } = ground.mode.identity {
        return weaker(
            "with subordinate ids sessions have their files to themselves",
            "run as root to keep them",
        );
    }
    let written = match Place::new(process.data(), "files").and_then(|place| place.of(owner)) {
        Ok(place) => write(process, &place).await,
        Err(error) => Err(error.to_string()),
    };
    match written {
        Ok(Some(found)) if found == owner.0 => {
            let detail = format!("/workspace and /results are kept; on disk they belong to user {found}");
            Check::ok("files", detail)
        }
        Ok(_) => weaker(
            "the data directory's file system cannot show files as another user's (idmapped mounts), so sessions have \
             their files to themselves",
            "put the data directory on ext4, xfs, btrfs or tmpfs (--data)",
        ),
        Err(error) => Check::missing("files", error),
    }
}

/// Who owns the file that a session wrote; `None` if it went elsewhere.
async fn write(process: &Process, place: &Place) -> Result<Option<u32>, String> {
    let spec = LaunchSpec {
        session: SessionId::new("doctor-files"),
        limits: Limits::default(),
        first_code: String::new(),
        files: vec![Attachment {
            source: place.0.clone(),
            target: "/workspace".to_owned(),
            access: Access::ReadWrite,
        }],
    };
    let guest = process.launch(spec).await.map_err(|error| error.to_string())?;
    let limits = Limits {
        wall_time: PATIENCE,
        ..Limits::default()
    };
    sandbox::ask(guest, Run::of(PROGRAM, limits.clone())).await?;
    Ok(fs::symlink_metadata(place.0.join("written"))
        .ok()
        .map(|found| found.uid()))
}

fn weaker(detail: &str, remedy: &str) -> Check {
    Check::new("files", State::Weaker, detail.to_owned(), remedy)
}
