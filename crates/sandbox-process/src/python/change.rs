//! Adds packages to the managed environment and removes some, in a copy that takes the place of the present one.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::child;
use super::discover::{Discovery, discover_afresh};
use super::draft::{Compile, Draft, Target, lock, missing};
use super::environment::{self, Environment, Package};
use super::error::SyncError;
use super::interpreter::Interpreter;
use super::requirement::{Requirement, key};
use super::set::Set;

/// The script that tells which packages need each other.
const PACKAGES: &str = include_str!("packages.py");
/// It reads the descriptions of all packages, perhaps on a cold disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// What became of the packages.
#[derive(Debug)]
pub struct Change {
    /// The environment as it is now.
    pub environment: Environment,
    /// Packages that are new or of another version than before.
    pub installed: Vec<Package>,
    /// Packages that are gone.
    pub removed: Vec<Package>,
}

/// Adds packages; those of before stay, in their versions where that is possible.
///
/// # Errors
/// If a step fails; the environment is then as it was.
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
        None => Set::nothing(),
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
    let mut draft = Draft::new(target, interpreter, present.as_ref(), lock)?;
    let compile = match &present {
        Some(present) => {
            draft.copy(present)?;
            Compile::New
        }
        None => {
            draft.make(progress)?;
            Compile::All
        }
    };
    draft.install(&set.text(), progress)?;
    draft.finish(compile, &set.text(), set.clone(), progress)?;
    place(draft, present)
}

/// Removes packages, and with them those that they needed and nothing else needs.
///
/// # Errors
/// If a name is not installed or needed by what stays, or a step fails; the environment is then as it was.
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
    let mut draft = Draft::new(target, interpreter.clone(), Some(&present), lock)?;
    let gone = gone(&interpreter, &present, &set, names)?;
    draft.copy(&present)?;
    draft.uninstall(&gone)?;
    draft.finish(Compile::New, &set.text(), set.clone(), progress)?;
    place(draft, Some(present))
}

fn find(target: &Target) -> Result<Interpreter, SyncError> {
    let Discovery { interpreter, skipped } = discover_afresh(&target.settings, &target.data);
    interpreter.ok_or(SyncError::NoPython { skipped })
}

/// Puts the draft in its place and compares it with what was there, which is not held any longer.
fn place(draft: Draft, present: Option<Environment>) -> Result<Change, SyncError> {
    let before = present.map(|present| present.packages).unwrap_or_default();
    let environment = draft.put_in_place()?;
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

/// What the script prints.
#[derive(Debug, Deserialize)]
struct Answer {
    gone: Vec<String>,
    needed: std::collections::BTreeMap<String, Vec<String>>,
}

/// The packages that go with these names.
fn gone(
    interpreter: &Interpreter,
    present: &Environment,
    set: &Set,
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
        PATIENCE,
    )
    .map_err(|error| SyncError::Unreadable {
        cause: format!("{error:?}"),
    })?;
    let told: Answer = serde_json::from_slice(&answer.stdout).map_err(|_| SyncError::Unreadable {
        cause: answer.last_words(),
    })?;
    match told.needed.into_iter().next() {
        Some((name, by)) => Err(SyncError::Needed { name, by }),
        None => Ok(told.gone),
    }
}
