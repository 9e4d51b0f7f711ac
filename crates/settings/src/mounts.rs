//! Checks the mounts of settings and command line on this machine.
//!
//! Reports all mistakes.

use std::path::{Path, PathBuf};

use environment::{Diagnostics, Environment, Mistake, absolute};
use types::Principal;
use workspace::Mount;
use workspace::mount::{MountRequest, Surroundings};

use crate::file::UncheckedMount;

pub(crate) fn from_arguments(
    texts: &[String],
    env: &dyn Environment,
    diagnostics: &mut Diagnostics,
) -> Vec<UncheckedMount> {
    let directory = absolute(Path::new(""), env);
    let read = |text: &String| match text.parse::<MountRequest>() {
        Ok(request) => Some(UncheckedMount {
            file: None,
            field: format!("--mount {text}"),
            directory: directory.clone(),
            request,
        }),
        Err(wrong) => {
            diagnostics.mistake("--mount", wrong.to_string());
            None
        }
    };
    texts.iter().filter_map(read).collect()
}

pub(crate) fn resolve(written: &[UncheckedMount], data: &Path, diagnostics: &mut Diagnostics) -> Vec<Mount> {
    let mut mounts = Vec::new();
    for mount in written {
        let surroundings = Surroundings {
            data,
            before: &mounts,
        };
        match mount.request.resolve(&mount.directory, surroundings) {
            Ok(resolved) => mounts.push(resolved),
            Err(wrong) => {
                let mistake = Mistake::new(mount.file.as_deref(), &mount.field, wrong.to_string());
                diagnostics.mistakes.push(mistake);
            }
        }
    }
    mounts
}

/// Host paths of the workspace and the mounts, each with its path in sessions.
pub(crate) fn host_links(
    principal: &Principal,
    workspace: &workspace::WorkspaceConfig,
    mounts: &[workspace::Mount],
) -> Vec<(PathBuf, PathBuf)> {
    let workspace_path = workspace::Workspaces::new(workspace.clone()).path(principal);
    let mounts = mounts
        .iter()
        .map(|mount| (mount.source.clone(), PathBuf::from(&mount.target)));
    mounts
        .chain([(workspace_path, PathBuf::from("/workspace"))])
        .collect()
}
