//! Saves new servers: first secrets, then accepted commands, then entries, so that no entry is used before both exist.

use consent::{accept_command, forget_command};
use environment::ChangeLock;
use registry::{DefinitionFile, EditError, Secrets};
use upstream::ServerConfig;

use crate::error::AdoptionError;
use crate::plan::{ImportPlan, PlannedServer};
use crate::references::references;

/// Saves a plan's new servers. `secrets` are the stored secrets; `check_name` refuses a name that was taken in the
/// meantime.
///
/// # Errors
/// If a file changed in the meantime or cannot be written, or a name is taken.
pub fn save_plan(
    plan: &ImportPlan,
    file: &mut DefinitionFile,
    mut secrets: Secrets<'_>,
    lock: &ChangeLock<'_>,
    check_name: impl Fn(&str, &DefinitionFile) -> Result<(), String>,
) -> Result<(), AdoptionError> {
    let new: Vec<&PlannedServer> = plan.new_servers().collect();
    for (name, secret) in plan.new_secrets() {
        let is_taken = match secrets.get(name) {
            Some(known) => known != secret,
            None => file
                .names()
                .filter_map(|other| file.entry(other))
                .any(|entry| references(&entry).iter().any(|known| known == name)),
        };
        if is_taken {
            return Err(EditError::Changed(secrets.path().to_path_buf()).into());
        }
        secrets.insert(name, secret);
    }
    for planned in &new {
        check_name(&planned.name, file).map_err(AdoptionError::Name)?;
        file.set(&planned.name, &planned.entry);
    }
    if plan.new_secrets().next().is_some() {
        secrets.save(lock)?;
    }
    let accepted = new.iter().filter_map(|planned| planned.unexpanded.as_ref());
    save_accepted(file, accepted, lock)
}

/// Saves a file of definitions whose new commands a person accepted.
///
/// # Errors
/// If a file changed in the meantime or cannot be written.
pub fn save_accepted<'a>(
    file: &mut DefinitionFile,
    accepted: impl IntoIterator<Item = &'a ServerConfig> + Clone,
    lock: &ChangeLock<'_>,
) -> Result<(), AdoptionError> {
    for server in accepted.clone() {
        accept_command(&file.path, server, lock)?;
    }
    let saved = file.save(lock);
    if saved.is_err() {
        for server in accepted {
            // Report the first error.
            let _ = forget_command(&file.path, &server.name, lock);
        }
    }
    Ok(saved?)
}
