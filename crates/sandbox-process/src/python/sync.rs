//! Makes the managed environment of a whole set of requirements with the machine's own `venv` and `pip`.

use std::fs;
use std::path::PathBuf;

use super::discover::{Discovery, discover_afresh};
use super::draft::{Compile, Draft, Target, lock};
use super::environment::{self, Environment};
use super::error::SyncError;
use super::set::Set;

/// What to make.
#[derive(Debug, Clone, Default)]
pub struct SyncRequest {
    /// Where.
    pub target: Target,
    /// A requirements file instead of [`super::DEFAULT_REQUIREMENTS`] and what was added to them.
    pub requirements: Option<PathBuf>,
    /// When to start over.
    pub refresh: Refresh,
}

/// When to make an environment that exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refresh {
    /// Only if the requirements are others than last time.
    #[default]
    IfChanged,
    /// Always, to take newer versions.
    Always,
}

/// What a sync comes to.
#[derive(Debug)]
pub enum Synced {
    /// The environment is made of these requirements already.
    UpToDate(Environment),
    /// A new one is ready to take the place of the present one.
    Draft(Box<Draft>),
}

/// Makes the managed environment; the present one stays in its place until [`Draft::put_in_place`].
///
/// # Errors
/// If a step fails; the environment is then as it was.
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
        .map_or_else(Set::standard, |present| present.set.renewed());
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
    let mut draft = Draft::new(target, interpreter, present.as_ref(), lock)?;
    draft.make(progress)?;
    let set = match &file {
        None => {
            draft.install(&text, progress)?;
            renewed
        }
        Some((path, _)) => {
            draft.install_file(path, progress)?;
            let site_packages = draft.site_packages();
            let requested = environment::requested(&site_packages)
                .map_err(|source| SyncError::writing(&site_packages, source))?;
            Set::of_file(&text, &requested)
        }
    };
    draft.finish(Compile::All, &text, set, progress)?;
    Ok(Synced::Draft(Box::new(draft)))
}

#[cfg(test)]
mod tests;
