//! A session from the pool with attached files, which its first run reads.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use anyhow::Result;
use sandbox::{Attachment, AttachmentAccess, SESSION, SHARED};
use tempfile::TempDir;

use crate::figures::{Figure, Samples};
use crate::guests::{Guests, SETTLE};
use crate::setting::Setting;

const FILES: usize = 1000;
/// Files of the tree that all sessions share.
const STUBS: usize = 200;
/// Sessions after which the pool's size is settled.
const TEACHING: usize = 10;
/// The owner of a session's files under root.
const NOBODY: u32 = 65534;
const READS: &str = "print(len(open('/workspace/500.txt').read() + open('/tools/bench/50.pyi').read()))";

pub async fn measure(setting: &Setting) -> Result<Vec<Figure>> {
    let files = Files::make()?;
    setting.placement.for_children()?;
    // A pool holds sessions of one shape, so each kind needs its own.
    let without = Guests::with_pool(&setting.data, None)?;
    without.warm(&[]).await?;
    let with = Guests::with_pool(&setting.data, Some(files.owner))?;
    with.warm(&files.attachments).await?;
    setting.placement.for_host()?;
    let mut figures = Vec::new();
    for (name, import) in [("plain", ""), ("numpy and pandas", "import pandas\n")] {
        let (bare, reads) = (format!("{import}print(1 + 1)"), format!("{import}{READS}"));
        let (mut hit, mut attached) = (Samples::default(), Samples::default());
        for round in 0..setting.samples + TEACHING {
            let took = without.session(&bare, &[]).await?;
            tokio::time::sleep(SETTLE).await;
            let took_with = with.session(&reads, &files.attachments).await?;
            tokio::time::sleep(SETTLE).await;
            if round >= TEACHING {
                hit.push(took);
                attached.push(took_with);
            }
        }
        let hit = hit.figure(
            &format!("session from the pool, no files, {name}"),
            setting.placement,
        );
        let attached_name = format!("session from the pool, files attached and read, {name}");
        let attached = attached.figure_over(&attached_name, &hit);
        figures.extend([hit, attached.at_most_with_tail(500.0, 1500.0)]);
    }
    without.close().await;
    with.close().await;
    Ok(figures)
}

/// Directories for a principal's workspace, a session's results and scratch files, and the shared tree.
struct Files {
    _directory: TempDir,
    attachments: Vec<Attachment>,
    /// Uid and gid.
    owner: (u32, u32),
}

impl Files {
    fn make() -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("codeyard-bench-").tempdir()?;
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
        let root = directory.path().canonicalize()?;
        let workspace = filled(&root.join("workspace"), FILES, "txt")?;
        let session = root.join("session");
        let owner = owner();
        give(&workspace, owner)?;
        for part in ["results", "scratch"] {
            give(&filled(&session.join(part), 0, "txt")?, owner)?;
        }
        give(&session, owner)?;
        filled(&root.join("shared/tools/bench"), STUBS, "pyi")?;
        fs::create_dir_all(root.join("shared/skills"))?;
        let attachment = |source: PathBuf, target: &str, access| Attachment {
            source,
            target: target.to_owned(),
            access,
        };
        Ok(Self {
            _directory: directory,
            owner,
            attachments: vec![
                attachment(workspace, "/workspace", AttachmentAccess::ReadWrite),
                attachment(session, SESSION, AttachmentAccess::ReadWrite),
                attachment(root.join("shared"), SHARED, AttachmentAccess::Shared),
            ],
        })
    }
}

fn filled(directory: &Path, count: usize, ending: &str) -> Result<PathBuf> {
    fs::create_dir_all(directory)?;
    for number in 0..count {
        fs::write(directory.join(format!("{number}.{ending}")), "x = 1\n")?;
    }
    Ok(directory.to_owned())
}

/// Under root, an unprivileged user, as on a server; else this user.
fn owner() -> (u32, u32) {
    if rustix::process::geteuid().is_root() {
        (NOBODY, NOBODY)
    } else {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        (user.as_raw(), group.as_raw())
    }
}

fn give(directory: &Path, (user, group): (u32, u32)) -> Result<()> {
    chown(directory, Some(user), Some(group))?;
    for entry in fs::read_dir(directory)? {
        chown(entry?.path(), Some(user), Some(group))?;
    }
    Ok(())
}
