//! All values in effect with their origins, for people.
//!
//! INVARIANT: values of variables, headers and token files are never shown.

use std::path::{Path, PathBuf};

use environment::{Environment, Mistakes, absolute, config_dir, is_data_dir_set};
use registry::{Definition, DefinitionStatus, definition_paths, list_definitions};
use serde_json::Value;
use toml::Table;

use crate::database;
use crate::load::{Arguments, load};

/// Every setting with its default.
pub(crate) const DEFAULTS: &str = include_str!("defaults.toml");

const SECRET: [&str; 2] = ["env", "headers"];

/// A value with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueWithOrigin {
    /// `limits.memory`, or `mcpServers.github.command`.
    pub key: String,
    /// The value as written in a file; `set` for a secret.
    pub value: String,
    /// The file, the option, the variable, or `default`.
    pub from: String,
}

/// Every setting, then every server. `log` is the value of `--log`.
///
/// # Errors
/// Every mistake of every file.
pub fn values_with_origins(
    arguments: &Arguments,
    log: Option<&str>,
    env: &dyn Environment,
) -> Result<Vec<ValueWithOrigin>, Mistakes> {
    let loaded = load(arguments, env)?;
    let mut shown = vec![ValueWithOrigin {
        key: "data".to_owned(),
        value: Value::from(loaded.data_dir.to_string_lossy()).to_string(),
        from: match arguments.sources.data {
            Some(_) => "--data".to_owned(),
            None if is_data_dir_set(env) => "$XDG_DATA_HOME".to_owned(),
            None => "default".to_owned(),
        },
    }];
    shown.push(ValueWithOrigin {
        key: "database".to_owned(),
        value: Value::from(loaded.database.to_string()).to_string(),
        from: match database::named(arguments, env) {
            Some((database::VARIABLE, _)) => format!("${}", database::VARIABLE),
            Some((argument, _)) => argument.to_owned(),
            None => "default".to_owned(),
        },
    });
    shown.extend(settings(arguments, log, env));
    for definition in list_definitions(&arguments.sources, env) {
        show_server(&definition, &mut shown);
    }
    Ok(shown)
}

/// Files and directories in use, each with its kind.
pub fn paths(arguments: &Arguments, env: &dyn Environment) -> Vec<(&'static str, PathBuf)> {
    let servers = definition_paths(&arguments.sources, env).into_iter();
    let servers = servers.map(|path| ("servers", path));
    let settings = settings_file(arguments, env).map(|file| ("settings", file));
    let data = arguments.sources.data_directory(env).unwrap_or_default();
    let data = [("data", data.clone()), ("logs", data.join("logs"))];
    servers.chain(settings).chain(data).collect()
}

fn settings_file(arguments: &Arguments, env: &dyn Environment) -> Option<PathBuf> {
    match &arguments.settings {
        Some(file) => Some(absolute(file, env)),
        None => config_dir(env).map(|directory| directory.join("codeyard.toml")),
    }
}

fn settings(arguments: &Arguments, log: Option<&str>, env: &dyn Environment) -> Vec<ValueWithOrigin> {
    let file = settings_file(arguments, env);
    let read = file.as_deref().and_then(|file| env.read(file).ok());
    let written: Table = read
        .and_then(|bytes| toml::from_str(&String::from_utf8(bytes).ok()?).ok())
        .unwrap_or_default();
    let from = file.map_or_else(String::new, |file| file.display().to_string());
    let defaults: Table = toml::from_str(DEFAULTS).unwrap_or_default();
    let mut shown = Vec::new();
    for (section, keys) in &defaults {
        let none = Table::new();
        let set = written
            .get(section)
            .and_then(toml::Value::as_table)
            .unwrap_or(&none);
        let keys = keys.as_table().unwrap_or(&none);
        let further = set.iter().filter(|(key, _)| !keys.contains_key(*key));
        for (key, default) in keys.iter().chain(further) {
            let value = set.get(key).unwrap_or(default);
            let from = if set.contains_key(key) {
                from.as_str()
            } else {
                "default"
            };
            shown.push(ValueWithOrigin {
                key: format!("{section}.{key}"),
                value: value.to_string(),
                from: from.to_owned(),
            });
        }
    }
    if let Some(mounts) = written.get("mounts").and_then(toml::Value::as_array) {
        shown.extend(mounts.iter().enumerate().map(|(index, mount)| ValueWithOrigin {
            key: format!("mounts[{index}]"),
            value: mount.to_string(),
            from: from.clone(),
        }));
    }
    let variable = || env.var("CODEYARD_LOG").ok().flatten();
    let level = log.map(|level| (level.to_owned(), "--log"));
    let level = level.or_else(|| Some((variable()?, "$CODEYARD_LOG")));
    if let (Some((level, from)), Some(log)) = (level, shown.iter_mut().find(|shown| shown.key == "log.level"))
    {
        log.value = Value::from(level).to_string();
        log.from = from.to_owned();
    }
    shown
}

/// A server's fields without secret values and with unexpanded variables.
fn show_server(definition: &Definition, shown: &mut Vec<ValueWithOrigin>) {
    let from = origin(&definition.file, definition.status);
    let mut show = |key: String, value: String| {
        shown.push(ValueWithOrigin {
            key,
            value,
            from: from.clone(),
        });
    };
    let name = &definition.name;
    for (field, value) in definition.entry.as_object().into_iter().flatten() {
        match value.as_object() {
            Some(values) if SECRET.contains(&field.as_str()) => {
                for (key, value) in values {
                    show(format!("mcpServers.{name}.{field}.{key}"), masked(value));
                }
            }
            _ => show(format!("mcpServers.{name}.{field}"), value.to_string()),
        }
    }
}

/// A reference to a variable unchanged; `set` for any other value.
fn masked(value: &Value) -> String {
    match value.as_str() {
        Some("") => "\"\"".to_owned(),
        Some(text) if is_reference(text) => text.to_owned(),
        _ => "set".to_owned(),
    }
}

/// Whether the text is exactly `${NAME}`; a default may be a secret.
fn is_reference(text: &str) -> bool {
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn origin(file: &Path, status: DefinitionStatus) -> String {
    match status {
        DefinitionStatus::Used => file.display().to_string(),
        other => format!("{} ({})", file.display(), other.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    #[test]
    fn the_defaults_apply_without_a_file() {
        let (written, diagnostics) = file::read(Path::new("/defaults.toml"), DEFAULTS);
        assert_eq!(diagnostics.mistakes, []);
        let mut settings = written.settings;
        assert_eq!(settings.log.take().as_deref(), Some("warn"));
        // A file without `record` leaves it to the command.
        assert_eq!(
            settings.records.recording.take(),
            Some(store::Recording::default())
        );
        assert_eq!(settings, file::Settings::default());
    }

    #[test]
    fn secrets_are_not_shown() {
        for (value, shown) in [
            ("s3cret", "set"),
            ("${TOKEN}", "${TOKEN}"),
            ("Bearer ${TOKEN}", "set"),
            ("${TOKEN:-s3cret}", "set"),
            ("", "\"\""),
        ] {
            assert_eq!(masked(&Value::from(value)), shown, "{value}");
        }
    }
}
