//! Codeyard's entry in each client's format, merged with a person's additions.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::http;
use super::step::{OURS, ProcessEntry, Refused};
use crate::client::Client;

/// Merges the intended entry into an existing entry: a person's additions stay, the command is updated.
///
/// # Errors
/// The existing entry starts another program.
pub(super) fn entry(client: Client, wish: &ProcessEntry, there: Option<&Value>) -> Result<Value, Refused> {
    let fresh = fresh(client, wish);
    let old = match there {
        None | Some(Value::Null) => return Ok(fresh),
        Some(old) => old,
    };
    let (Some(old), Some(fresh)) = (old.as_object(), fresh.as_object()) else {
        return Err(Refused::Taken);
    };
    if let Some(url) = http::address(old) {
        return Err(http::leads_elsewhere(url));
    }
    let old = &flat(old);
    if !starts_codeyard(old, &wish.command) {
        return Err(Refused::Taken);
    }
    let (mut there, mut wanted) = (files_of(&words_of(old)), files_of(&wish.args));
    let given: Vec<(&str, &str)> = variables_of(old).collect();
    let env = wish.env.iter();
    let env: Vec<(&str, &str)> = env.map(|(name, value)| (&**name, &**value)).collect();
    for (name, default) in PLACES {
        let place = |variables: &[(&str, &str)]| place(name, variables, &wish.home.join(default));
        // A value with a client's variable counts as equal.
        if let (Some(old), Some(new)) = (place(&given), place(&env))
            && old != new
        {
            there.push(format!("{name}={}", old.display()));
            wanted.push(format!("{name}={}", new.display()));
        }
    }
    if there != wanted {
        return Err(Refused::OtherOptions {
            there: told(&there),
            wanted: told(&wanted),
        });
    }
    let mut entry = old.clone();
    entry.shift_remove("disabled");
    for (field, value) in fresh {
        let merged = match (field.as_str(), old.get(field)) {
            // A person's additional arguments stay, unless the new entry sets different arguments.
            ("args", Some(Value::Array(old))) if has_all(old, &wish.args) => old.clone().into(),
            ("command", Some(Value::Array(words))) if has_all(words, &wish.args) => {
                let program = std::iter::once(Value::from(wish.command.as_str()));
                program.chain(words.iter().skip(1).cloned()).collect()
            }
            ("env" | "environment" | "envs", Some(Value::Object(old))) => {
                let mut all = old.clone();
                for (name, value) in value.as_object().into_iter().flatten() {
                    all.entry(name.as_str()).or_insert_with(|| value.clone());
                }
                Value::Object(all)
            }
            ("env_vars", Some(Value::Array(old))) => {
                let new = value.as_array().into_iter().flatten();
                let new = new.filter(|name| !old.contains(name));
                old.iter().chain(new).cloned().collect()
            }
            ("command" | "cmd" | "args" | "enabled", _) | (_, None) => value.clone(),
            (_, Some(old)) => old.clone(),
        };
        entry.insert(field.clone(), merged);
    }
    Ok(Value::Object(entry))
}

/// Our options that name files and directories.
const FILES: [&str; 3] = ["--config", "--settings", "--data"];

/// The option or variable that sets the data directory of a codeyard entry; `None` without either.
pub fn data(entry: &Value) -> Option<String> {
    let entry = entry.as_object().map(flat).unwrap_or_default();
    let mut options = files_of(&words_of(&entry)).into_iter();
    let option = options.find(|option| option.starts_with("--data "));
    option.or_else(|| {
        let is_it = |(name, value): &(&str, &str)| *name == "XDG_DATA_HOME" && !value.contains('{');
        let (name, value) = variables_of(&entry).find(is_it)?;
        Some(format!("{name}={value}"))
    })
}

fn is_place(name: &str) -> bool {
    PLACES.iter().any(|(place, _)| *place == name)
}

/// The directory in a variable of `variables`; `None` if the value has a client's variable. Ignores relative paths, as
/// the XDG specification requires.
fn place(name: &str, variables: &[(&str, &str)], default: &Path) -> Option<PathBuf> {
    let value = variables.iter().find(|(given, _)| *given == name);
    match value.map(|(_, value)| *value) {
        Some(value) if value.contains('{') => None,
        Some(value) if Path::new(value).is_absolute() => Some(value.into()),
        _ => Some(default.to_path_buf()),
    }
}

/// The variables that an entry sets.
fn variables_of(entry: &Map<String, Value>) -> impl Iterator<Item = (&str, &str)> {
    let fields = ["env", "environment", "envs"].into_iter();
    let all = fields.filter_map(|field| entry.get(field)?.as_object()).flatten();
    all.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
}

/// The values of these options among all words, sorted by name.
fn files_of(words: &[impl AsRef<str>]) -> Vec<String> {
    let values = |option: &'static str| {
        let pairs = words.iter().zip(words.iter().skip(1).map(Some).chain([None]));
        pairs.filter_map(move |(word, next)| match word.as_ref().strip_prefix(option)? {
            "" => Some(format!("{option} {}", next?.as_ref())),
            rest => Some(format!("{option} {}", rest.strip_prefix('=')?)),
        })
    };
    FILES.into_iter().flat_map(values).collect()
}

fn told(files: &[String]) -> String {
    match files {
        [] => "without options that name files".to_owned(),
        files => format!("with `{}`", files.join(" ")),
    }
}

fn has_all(words: &[Value], wanted: &[String]) -> bool {
    wanted
        .iter()
        .all(|wanted| words.iter().any(|word| word == wanted))
}

/// Flattens an entry whose command is an object, Zed's former format.
fn flat(entry: &Map<String, Value>) -> Map<String, Value> {
    let mut entry = entry.clone();
    if let Some(Value::Object(parts)) = entry.get("command").cloned() {
        for (field, part) in parts {
            let field = if field == "path" {
                "command".to_owned()
            } else {
                field
            };
            entry.insert(field, part);
        }
    }
    entry
}

/// The program and arguments that an entry starts.
fn words_of(entry: &Map<String, Value>) -> Vec<&str> {
    let words_of = |field: &str| match entry.get(field) {
        Some(Value::String(word)) => vec![word.as_str()],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let fields = ["command", "cmd", "args"].into_iter();
    fields.flat_map(words_of).collect()
}

/// Readable options of an entry that starts codeyard; `None` if the entry starts another program.
pub(super) fn options_of(entry: &Map<String, Value>) -> Option<String> {
    let entry = flat(entry);
    starts_codeyard(&entry, OURS).then(|| told(&files_of(&words_of(&entry))))
}

/// Whether an entry starts `codeyard` as a server; the demo servers do not count.
fn starts_codeyard(entry: &Map<String, Value>, command: &str) -> bool {
    let words = words_of(entry);
    let Some((program, args)) = words.split_first() else {
        return false;
    };
    let name = |path: &str| {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        Path::new(name)
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    let found = name(program);
    let is_ours = found == name(command) || found.as_deref() == Some(OURS);
    is_ours && args.contains(&"mcp") && args.first() != Some(&"demo-server")
}

/// Description, for clients that require a description.
pub(super) const DESCRIPTION: &str = "Programs that call MCP tools";

/// Time limit of a call in seconds, for clients that require a limit.
pub(super) const TIMEOUT: u32 = 300;

/// Variables that set our files' directories, with the defaults below the home directory.
const PLACES: [(&str, &str); 2] = [("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share")];

/// Texts of an entry that starts codeyard.
pub(super) fn own_texts(client: Client, entry: &Value) -> Vec<String> {
    let entry = entry.as_object().map(flat).unwrap_or_default();
    let mut texts = [OURS.to_owned(), DESCRIPTION.to_owned(), TIMEOUT.to_string()].to_vec();
    texts.extend(words_of(&entry).into_iter().map(str::to_owned));
    let is_ours =
        |(name, value): &(&str, &str)| is_place(name) || reference(client, name).as_deref() == Some(*value);
    texts.extend(
        variables_of(&entry)
            .filter(is_ours)
            .map(|(_, value)| value.to_owned()),
    );
    let passed = entry
        .get("env_vars")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    texts.extend(passed.filter_map(Value::as_str).map(str::to_owned));
    texts
}

/// A new entry for a client.
pub(super) fn fresh(client: Client, wish: &ProcessEntry) -> Value {
    let ProcessEntry {
        command,
        args,
        env,
        passed,
        ..
    } = wish;
    let mut entry = match client {
        Client::ClaudeCode | Client::VsCode => json!({"type": "stdio", "command": command, "args": args}),
        Client::Opencode => {
            let words: Vec<&String> = std::iter::once(command).chain(args).collect();
            json!({"type": "local", "command": words, "enabled": true})
        }
        Client::Goose => json!({
            "enabled": true, "type": "stdio", "name": OURS, "description": DESCRIPTION,
            "cmd": command, "args": args, "timeout": TIMEOUT,
        }),
        Client::Codex | Client::Zed => json!({"command": command, "args": args, "enabled": true}),
        Client::ClaudeDesktop | Client::Cursor | Client::Windsurf | Client::GeminiCli => {
            json!({"command": command, "args": args})
        }
    };
    let referred = passed
        .iter()
        .filter_map(|name| Some((name.clone(), reference(client, name)?)));
    let env: Map<String, Value> = env
        .iter()
        .cloned()
        .chain(referred)
        .map(|(name, value)| (name, value.into()))
        .collect();
    if let Some(fields) = entry.as_object_mut() {
        if !env.is_empty() {
            let key = match client {
                Client::Opencode => "environment",
                Client::Goose => "envs",
                _ => "env",
            };
            fields.insert(key.to_owned(), Value::Object(env));
        }
        if client == Client::Codex && !passed.is_empty() {
            fields.insert("env_vars".to_owned(), passed.clone().into());
        }
    }
    entry
}

/// A client's reference to an environment variable of its own; `None` without such syntax, or if another field sets
/// the variable.
pub(super) fn reference(client: Client, name: &str) -> Option<String> {
    match client {
        Client::Cursor | Client::VsCode | Client::Windsurf => Some(format!("${{env:{name}}}")),
        Client::Opencode => Some(format!("{{env:{name}}}")),
        Client::ClaudeCode => Some(format!("${{{name}:-}}")),
        Client::GeminiCli => Some(format!("${{{name}}}")),
        Client::ClaudeDesktop | Client::Codex | Client::Zed | Client::Goose => None,
    }
}
