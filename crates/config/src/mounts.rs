//! Mounts of the settings and of the command line: each checked on this machine, all mistakes told.

use std::path::{Path, PathBuf};

use workspace::Mount;
use workspace::mount::{Asked, Surroundings};

use crate::host::Host;
use crate::mistakes::Findings;
use crate::places::absolute;
use crate::settings::WrittenMount;

/// What `--mount` says.
pub(crate) fn of_command_line(
    texts: &[String],
    host: &dyn Host,
    findings: &mut Findings,
) -> Vec<WrittenMount> {
    let directory = absolute(Path::new(""), host);
    let read = |text: &String| match text.parse::<Asked>() {
        Ok(asked) => Some(WrittenMount {
            file: None,
            field: format!("--mount {text}"),
            directory: directory.clone(),
            asked,
        }),
        Err(wrong) => {
            findings.mistake("--mount", wrong.to_string());
            None
        }
    };
    texts.iter().filter_map(read).collect()
}

/// The mounts that sessions get.
pub(crate) fn resolve(written: &[WrittenMount], data: &Path, findings: &mut Findings) -> Vec<Mount> {
    let mut mounts = Vec::new();
    for mount in written {
        let surroundings = Surroundings {
            data,
            before: &mounts,
        };
        match mount.asked.resolve(&mount.directory, surroundings) {
            Ok(resolved) => mounts.push(resolved),
            Err(wrong) => {
                let mut found = Findings::of(mount.file.as_deref());
                found.mistake(&mount.field, wrong.to_string());
                findings.absorb(found);
            }
        }
    }
    mounts
}

/// The local user's workspace and mounts by their paths on the host, each with its place in sessions; none if programs may
/// not know these paths.
pub(crate) fn host_links(
    told: bool,
    workspace: &workspace::Config,
    mounts: &[workspace::Mount],
) -> Vec<(PathBuf, PathBuf)> {
    if !told {
        return Vec::new();
    }
    let own = workspace::Workspaces::new(workspace.clone()).path(&types::Principal::local());
    let mounts = mounts
        .iter()
        .map(|mount| (mount.source.clone(), PathBuf::from(&mount.target)));
    mounts.chain([(own, PathBuf::from("/workspace"))]).collect()
}
