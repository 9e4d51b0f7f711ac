//! Makes the managed environment for all requirements with the machine's `venv` and `pip`.

use std::fs;
use std::path::PathBuf;

use super::discover::{Discovery, discover_afresh};
use super::environment::{self, Environment};
use super::error::SyncError;
use super::requirement_set::RequirementSet;
use super::staged::{Compile, StagedEnvironment, Target, lock};

/// Arguments of a sync.
#[derive(Debug, Clone, Default)]
pub struct SyncRequest {
    /// Data directory and Python.
    pub target: Target,
    /// A requirements file, instead of [`crate::python::DEFAULT_REQUIREMENTS`] and the user's additions.
    pub requirements: Option<PathBuf>,
    /// When to remake the environment.
    pub refresh: Refresh,
}

/// When to remake an existing environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refresh {
    /// Only if the requirements have changed.
    #[default]
    IfChanged,
    /// Always, to take newer versions.
    Always,
}

/// The result of a sync.
#[derive(Debug)]
pub enum Synced {
    /// The present environment already meets the requirements.
    UpToDate(Environment),
    /// A new environment is ready to replace the present one.
    Staged(Box<StagedEnvironment>),
}

/// Makes the managed environment. [`StagedEnvironment::put_in_place`] replaces the present one.
///
/// # Errors
/// If a step fails; then the environment is unchanged.
pub fn sync(request: &SyncRequest, progress: &mut dyn FnMut(&str)) -> Result<Synced, SyncError> {
    let target = &request.target;
    let Discovery { interpreter, skipped } = discover_afresh(&target.settings, &target.data);
    let interpreter = interpreter.ok_or(SyncError::NoPython { skipped })?;
    let file = match &request.requirements {
        None => None,
        Some(path) => {
            let refused = |source| SyncError::Requirements {
                path: path.clone(),
                source,
            };
            let text = fs::read_to_string(path).map_err(refused)?;
            Some((std::path::absolute(path).map_err(refused)?, text))
        }
    };
    let lock = lock(&target.data, progress)?;
    let present = environment::environment(&target.data, &interpreter);
    let renewed = present
        .as_ref()
        .map_or_else(RequirementSet::standard, |present| present.set.renewed());
    let text = match &file {
        Some((_, text)) => text.clone(),
        None => renewed.text(),
    };
    let present = match present {
        Some(present) if request.refresh == Refresh::IfChanged && present.was_made_from(&text) => {
            progress("the environment is up to date");
            return Ok(Synced::UpToDate(present));
        }
        present => present,
    };
    let mut staged = StagedEnvironment::new(target, interpreter, present.as_ref(), lock)?;
    staged.make(progress)?;
    let set = match &file {
        None => {
            staged.install(&text, progress)?;
            renewed
        }
        Some((path, _)) => {
            staged.install_file(path, progress)?;
            let site_packages = staged.site_packages();
            let requested = environment::requested(&site_packages)
                .map_err(|source| SyncError::writing(&site_packages, source))?;
            RequirementSet::of_file(&text, &requested)
        }
    };
    staged.finish(Compile::All, &text, set, progress)?;
    Ok(Synced::Staged(Box::new(staged)))
}

#[cfg(test)]
mod tests;
