//! Adds packages to the managed environment, or removes them, in a copy that then replaces the environment.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::discover::{Discovery, discover_afresh};
use super::environment::{self, Environment, Package};
use super::error::SyncError;
use super::interpreter::Interpreter;
use super::requirement::{Requirement, key};
use super::requirement_set::RequirementSet;
use super::staged::{Compile, StagedEnvironment, Target, lock, missing};
use crate::child;

const PACKAGES: &str = include_str!("packages.py");
/// The script reads the metadata of all packages, perhaps from a cold disk.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Result of a command.
#[derive(Debug)]
pub struct Change {
    /// The new environment.
    pub environment: Environment,
    /// New packages, or new versions.
    pub installed: Vec<Package>,
    /// Packages that the new environment no longer has.
    pub removed: Vec<Package>,
}

/// Adds packages. Installed packages stay, in their versions if possible.
///
/// # Errors
/// If a step fails; then the environment is unchanged.
pub fn add(
    target: &Target,
    requirements: &[Requirement],
    progress: &mut dyn FnMut(&str),
) -> Result<Change, SyncError> {
    let interpreter = find(target)?;
    let lock = lock(&target.data, progress)?;
    let present = environment::environment(&target.data, &interpreter);
    let set = match &present {
        Some(present) => present.set.clone(),
        None => RequirementSet::nothing(),
    };
    let new: Vec<Requirement> = requirements
        .iter()
        .filter(|requirement| !set.has(requirement))
        .cloned()
        .collect();
    let present = match present {
        Some(environment) if new.is_empty() => {
            return Ok(Change {
                environment,
                installed: Vec::new(),
                removed: Vec::new(),
            });
        }
        present => present,
    };
    let set = set.with(&new);
    let mut staged = StagedEnvironment::new(target, interpreter, present.as_ref(), lock)?;
    let compile = match &present {
        Some(present) => {
            staged.copy(present)?;
            Compile::New
        }
        None => {
            staged.make(progress)?;
            Compile::All
        }
    };
    staged.install(&set.text(), progress)?;
    staged.finish(compile, &set.text(), set.clone(), progress)?;
    put_in_place(staged, present)
}

/// Removes packages, and dependencies that no other package needs.
///
/// # Errors
/// If a name is not installed, if a remaining package needs it, or if a step fails; then the environment is unchanged.
pub fn remove(
    target: &Target,
    names: &[String],
    progress: &mut dyn FnMut(&str),
) -> Result<Change, SyncError> {
    let interpreter = find(target)?;
    let lock = lock(&target.data, progress)?;
    let present = environment::environment(&target.data, &interpreter).ok_or(SyncError::NoEnvironment)?;
    for name in names {
        if !present
            .packages
            .iter()
            .any(|package| key(&package.name) == key(name))
        {
            return Err(SyncError::NotInstalled {
                name: name.clone(),
                installed: present
                    .packages
                    .iter()
                    .map(|package| package.name.clone())
                    .collect(),
            });
        }
    }
    let set = present.set.without(names);
    let mut staged = StagedEnvironment::new(target, interpreter.clone(), Some(&present), lock)?;
    let gone = gone(&interpreter, &present, &set, names)?;
    staged.copy(&present)?;
    staged.uninstall(&gone)?;
    staged.finish(Compile::New, &set.text(), set.clone(), progress)?;
    put_in_place(staged, Some(present))
}

fn find(target: &Target) -> Result<Interpreter, SyncError> {
    let Discovery { interpreter, skipped } = discover_afresh(&target.settings, &target.data);
    interpreter.ok_or(SyncError::NoPython { skipped })
}

/// Replaces the present environment by the staged one and compares them. Releases the lock of the previous
/// environment.
fn put_in_place(staged: StagedEnvironment, present: Option<Environment>) -> Result<Change, SyncError> {
    let before = present.map(|present| present.packages).unwrap_or_default();
    let environment = staged.put_in_place()?;
    let installed = environment
        .packages
        .iter()
        .filter(|package| !before.contains(package))
        .cloned()
        .collect();
    Ok(Change {
        removed: missing(&before, &environment.packages),
        installed,
        environment,
    })
}

/// Output of `packages.py`.
#[derive(Debug, Deserialize)]
struct DependencyAnswer {
    gone: Vec<String>,
    needed: std::collections::BTreeMap<String, Vec<String>>,
}

/// The packages that are removed with these names.
fn gone(
    interpreter: &Interpreter,
    present: &Environment,
    set: &RequirementSet,
    names: &[String],
) -> Result<Vec<String>, SyncError> {
    let pip = interpreter.pip.as_deref().and_then(|pip| pip.to_str());
    let (Some(pip), Some(site)) = (pip, present.site_packages.to_str()) else {
        return Err(SyncError::Unreadable {
            cause: "the path of pip or of the packages is not UTF-8".to_owned(),
        });
    };
    let asked = json!({ "stay": set.lines, "remove": names }).to_string();
    let answer = child::ask(
        &interpreter.executable,
        &["-I", "-S", "-c", PACKAGES, pip, site, &asked],
        TIMEOUT,
    )
    .map_err(|error| SyncError::Unreadable {
        cause: format!("{error:?}"),
    })?;
    let told: DependencyAnswer =
        serde_json::from_slice(&answer.stdout).map_err(|_| SyncError::Unreadable {
            cause: answer.output_tail(),
        })?;
    match told.needed.into_iter().next() {
        Some((name, by)) => Err(SyncError::Needed { name, by }),
        None => Ok(told.gone),
    }
}
