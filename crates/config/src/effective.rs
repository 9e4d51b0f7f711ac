//! What counts and where each value comes from, for people.
//!
//! INVARIANT: no value of a variable, a header or a token file is shown.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Table;

use crate::host::Host;
use crate::load::{Sources, data_directory, load};
use crate::mistakes::Mistakes;
use crate::overview::{Defined, Use, defined};
use crate::places::{absolute, config_dir, is_data_dir_set};
use crate::sources::possible_files;

/// Every setting with its default.
pub(crate) const DEFAULTS: &str = include_str!("defaults.toml");

/// Sections whose values are secret, in an entry of `mcpServers`.
const SECRET: [&str; 2] = ["env", "headers"];

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// `limits.memory`, or `mcpServers.github.command`.
    pub key: String,
    /// As its file writes it; `set` for a secret.
    pub value: String,
    /// The file, the option, the variable, or `default`.
    pub from: String,
}

/// Every setting, then every server; `log` is what `--log` says.
///
/// # Errors
/// Every mistake of every file.
pub fn effective(sources: &Sources, log: Option<&str>, host: &dyn Host) -> Result<Vec<Shown>, Mistakes> {
    let loaded = load(sources, host)?;
    let mut shown = vec![Shown {
        key: "data".to_owned(),
        value: Value::from(loaded.data_dir.to_string_lossy()).to_string(),
        from: match sources.data {
            Some(_) => "--data".to_owned(),
            None if is_data_dir_set(host) => "$XDG_DATA_HOME".to_owned(),
            None => "default".to_owned(),
        },
    }];
    shown.extend(settings(sources, log, host));
    for defined in defined(sources, host) {
        show_server(&defined, &mut shown);
    }
    Ok(shown)
}

/// Which files are read and where things are kept, by what they are.
pub fn files(sources: &Sources, host: &dyn Host) -> Vec<(&'static str, PathBuf)> {
    let servers = possible_files(sources, host).into_iter();
    let servers = servers.map(|place| ("servers", place.path));
    let settings = settings_file(sources, host).map(|file| ("settings", file));
    let data = data_directory(sources, host);
    let data = [("data", data.clone()), ("logs", data.join("logs"))];
    servers.chain(settings).chain(data).collect()
}

fn settings_file(sources: &Sources, host: &dyn Host) -> Option<PathBuf> {
    match &sources.settings {
        Some(file) => Some(absolute(file, host)),
        None => config_dir(host).map(|directory| directory.join("codeyard.toml")),
    }
}

fn settings(sources: &Sources, log: Option<&str>, host: &dyn Host) -> Vec<Shown> {
    let file = settings_file(sources, host);
    let read = file.as_deref().and_then(|file| host.read(file).ok());
    let written: Table = read
        .and_then(|bytes| toml::from_str(&String::from_utf8(bytes).ok()?).ok())
        .unwrap_or_default();
    let from = file.map_or_else(String::new, |file| file.display().to_string());
    let defaults: Table = toml::from_str(DEFAULTS).unwrap_or_default();
    let mut shown = Vec::new();
    for (section, keys) in &defaults {
        let none = Table::new();
        let own = written
            .get(section)
            .and_then(toml::Value::as_table)
            .unwrap_or(&none);
        let keys = keys.as_table().unwrap_or(&none);
        let further = own.iter().filter(|(key, _)| !keys.contains_key(*key));
        for (key, default) in keys.iter().chain(further) {
            let value = own.get(key).unwrap_or(default);
            let from = if own.contains_key(key) {
                from.as_str()
            } else {
                "default"
            };
            shown.push(Shown {
                key: format!("{section}.{key}"),
                value: value.to_string(),
                from: from.to_owned(),
            });
        }
    }
    if let Some(mounts) = written.get("mounts").and_then(toml::Value::as_array) {
        shown.extend(mounts.iter().enumerate().map(|(index, mount)| Shown {
            key: format!("mounts[{index}]"),
            value: mount.to_string(),
            from: from.clone(),
        }));
    }
    let variable = || host.var("CODEYARD_LOG").ok().flatten();
    let said = log.map(|level| (level.to_owned(), "--log"));
    let said = said.or_else(|| Some((variable()?, "$CODEYARD_LOG")));
    if let (Some((level, from)), Some(log)) = (said, shown.iter_mut().find(|shown| shown.key == "log.level"))
    {
        log.value = Value::from(level).to_string();
        log.from = from.to_owned();
    }
    shown
}

/// The fields of a server as they are written, without what is secret.
fn show_server(defined: &Defined, shown: &mut Vec<Shown>) {
    let from = place(&defined.file, defined.use_);
    let mut show = |key: String, value: String| {
        shown.push(Shown {
            key,
            value,
            from: from.clone(),
        });
    };
    let name = &defined.name;
    for (field, value) in defined.entry.as_object().into_iter().flatten() {
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

/// A reference to a variable as it is written; of everything else only that it is there.
fn masked(value: &Value) -> String {
    match value.as_str() {
        Some("") => "\"\"".to_owned(),
        Some(text) if is_reference(text) => text.to_owned(),
        _ => "set".to_owned(),
    }
}

/// Whether the text is `${NAME}` and nothing else; a default may be a secret.
fn is_reference(text: &str) -> bool {
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn place(file: &Path, use_: Use) -> String {
    match use_ {
        Use::Used => file.display().to_string(),
        other => format!("{} ({})", file.display(), other.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings;

    #[test]
    fn the_defaults_are_those_that_count_without_a_file() {
        let (written, findings) = settings::read(Path::new("/defaults.toml"), DEFAULTS);
        assert_eq!(findings.mistakes, []);
        let mut settings = written.settings;
        assert_eq!(settings.log.take().as_deref(), Some("warn"));
        assert_eq!(settings, settings::Settings::default());
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
