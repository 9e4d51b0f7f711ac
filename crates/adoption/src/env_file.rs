//! Resolves the `envFile` of a client's server: its variables become `env` of the definition.

use std::path::PathBuf;

use clients::{ClientFile, ClientServer, Surroundings};
use environment::{Environment, Machine, why_unreadable};
use serde_json::{Map, Value};

/// Adds the variables of `envFile` to the definition. As in the clients, `env` takes precedence.
///
/// # Errors
/// A text for a person with the reason.
pub(crate) fn with_env_file(
    found: &ClientServer,
    definition: &Map<String, Value>,
    place: &ClientFile,
    here: &Surroundings,
) -> Result<Map<String, Value>, String> {
    let mut definition = definition.clone();
    let Some(file) = &found.env_file else {
        return Ok(definition);
    };
    let pairs = env_file(file, place, here)
        .map_err(|why| format!("`envFile` ({file}) {why}; write its variables into `env`"))?;
    let env = definition
        .entry("env")
        .or_insert_with(|| Value::Object(Map::new()));
    for (name, value) in pairs {
        if let Some(env) = env.as_object_mut() {
            env.entry(name).or_insert_with(|| value.into());
        }
    }
    Ok(definition)
}

fn env_file(file: &str, place: &ClientFile, here: &Surroundings) -> Result<Vec<(String, String)>, String> {
    let home = here.home.to_string_lossy();
    let path = file.replace("${HOME}", &home);
    let path = match (&place.project, path.strip_prefix("~/")) {
        _ if path.contains("${") => {
            return Err("depends on which project is open, which codeyard does not know".to_owned());
        }
        (_, Some(rest)) => here.home.join(rest),
        (Some(project), None) => project.join(&path),
        (None, None) if path.starts_with('/') => PathBuf::from(&path),
        (None, None) => {
            return Err("is relative to whichever project is open, which codeyard does not know".to_owned());
        }
    };
    let bytes = Machine.read(&path).map_err(|error| why_unreadable(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| "holds bytes that are not valid UTF-8".to_owned())?;
    let pairs =
        clients::env_file(&text).map_err(|line| format!("has a line that is not NAME=VALUE: line {line}"))?;
    // A literal `${` in the file would become a reference in the definition.
    match pairs.iter().find(|(_, value)| value.contains("${")) {
        Some((name, _)) => Err(format!("has a `${{` in {name}")),
        None => Ok(pairs),
    }
}
