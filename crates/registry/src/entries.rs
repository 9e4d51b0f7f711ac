//! Reads one `mcpServers` file: its upstream servers, with their commands or addresses.

mod remote;
mod restrictions;
mod secret_values;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use environment::{Diagnostics, Environment, Warning, nearest};
use upstream::ServerConfig;
use upstream_wire::{SecretValues, Stdio, Transport};

use crate::expand::{expand, secrets};
use crate::json::JsonValue;
pub(crate) use secret_values::secret_values;

pub(crate) const LIST: &str = "mcpServers";

/// Fields of a server that codeyard starts.
const FIELDS: [&str; 16] = [
    "trusted",
    "maxCalls",
    "maxCallsPerMinute",
    "idleStop",
    "sandbox",
    "limits",
    "command",
    "args",
    "env",
    "cwd",
    "description",
    "disabled",
    "timeout",
    "allow",
    "deny",
    "tags",
];

/// Keys under which other clients list servers.
const FOREIGN_LISTS: [&str; 4] = ["servers", "context_servers", "mcp", "mcp_servers"];

/// Maximum time-out of a call in a definition: a day.
const MAX_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// Maximum bytes.
const MAX_NAME: usize = 128;

/// One entry. Even a disabled or invalid entry prevents a later file from defining a server of its name.
#[derive(Debug)]
pub(crate) struct ServerEntry {
    pub(crate) name: String,
    /// Path in the file, for messages: `mcpServers.github`.
    pub(crate) field: String,
    /// `None` if disabled, invalid, or unused because of an unset variable.
    pub(crate) server: Option<ServerConfig>,
    /// Unset variables that prevent the use of the server.
    pub(crate) left_out: Vec<Warning>,
}

#[derive(Clone, Copy)]
pub(crate) enum Expansion<'a> {
    /// An unset variable is a mistake.
    Required(&'a dyn Environment),
    /// A server that refers to an unset variable is not used.
    LeaveOutUnset(&'a dyn Environment),
    /// References stay as written, for people.
    Off,
}

// === impl Expansion ===

impl Expansion<'_> {
    /// Whether variables are expanded.
    fn is_on(self) -> bool {
        !matches!(self, Expansion::Off)
    }
}

pub(crate) fn read_file(
    file: &Path,
    bytes: &[u8],
    expansion: Expansion<'_>,
) -> (Vec<ServerEntry>, Diagnostics) {
    let mut diagnostics = Diagnostics::of(Some(file));
    let entries = match JsonValue::parse(bytes) {
        Ok(JsonValue::Object(top)) => list(&top, &mut diagnostics),
        Ok(other) => {
            diagnostics.mistake(
                "",
                format!("expected an object with `mcpServers`, found {}", other.kind()),
            );
            Vec::new()
        }
        Err((place, message)) => {
            diagnostics.mistake(&place, message);
            Vec::new()
        }
    };
    let mut reader = EntryReader {
        list: LIST,
        file,
        expansion,
        diagnostics,
        referred: BTreeSet::new(),
    };
    let entries = entries
        .iter()
        .map(|(name, node)| ServerEntry {
            name: name.clone(),
            field: field_of(LIST, name),
            server: reader.server(name, node),
            left_out: std::mem::take(&mut reader.diagnostics.left_out),
        })
        .collect();
    (entries, reader.diagnostics)
}

/// Reads one entry of the list with this key.
pub(crate) fn read_entry(
    file: &Path,
    list: &str,
    (name, node): &(String, JsonValue),
    expansion: Expansion<'_>,
) -> (ServerEntry, Diagnostics) {
    let mut reader = EntryReader {
        list,
        file,
        expansion,
        diagnostics: Diagnostics::of(Some(file)),
        referred: BTreeSet::new(),
    };
    let field = field_of(list, name);
    check_name(&field, name, &mut reader.diagnostics);
    let entry = ServerEntry {
        name: name.clone(),
        server: reader.server(name, node),
        field,
        left_out: std::mem::take(&mut reader.diagnostics.left_out),
    };
    (entry, reader.diagnostics)
}

/// Finds `mcpServers`. Checks its names and the other keys of the file.
fn list(top: &[(String, JsonValue)], diagnostics: &mut Diagnostics) -> Vec<(String, JsonValue)> {
    let lists: Vec<&JsonValue> = top
        .iter()
        .filter(|(key, _)| key == "mcpServers")
        .map(|(_, node)| node)
        .collect();
    let others: Vec<&str> = top
        .iter()
        .map(|(key, _)| key.as_str())
        .filter(|key| *key != "mcpServers" && *key != "$schema")
        .collect();
    let entries = match lists.as_slice() {
        [JsonValue::Object(entries)] => entries.clone(),
        [other] => {
            diagnostics.mistake(
                "mcpServers",
                format!("expected an object, found {}", other.kind()),
            );
            Vec::new()
        }
        [] => {
            diagnostics.mistake("", missing_list(&others));
            return Vec::new();
        }
        _ => {
            diagnostics.mistake("mcpServers", "appears more than once; write one list");
            Vec::new()
        }
    };
    if !others.is_empty() {
        let names = others.join("`, `");
        diagnostics.warning("", format!("`{names}` is not used by codeyard"));
    }
    let mut seen = Vec::new();
    for (name, _) in &entries {
        let field = field_of(LIST, name);
        check_name(&field, name, diagnostics);
        if seen.contains(&name) {
            diagnostics.mistake(&field, "the name appears more than once; rename one of them");
        }
        seen.push(name);
    }
    entries
}

fn check_name(field: &str, name: &str, diagnostics: &mut Diagnostics) {
    if name.trim().is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
        let rule = format!("a server's name is 1 to {MAX_NAME} bytes of printable characters");
        diagnostics.mistake(field, rule);
    }
}

fn missing_list(others: &[&str]) -> String {
    let foreign = others.iter().find(|key| FOREIGN_LISTS.contains(key));
    let near = nearest("mcpServers", others.iter().copied());
    match foreign.copied().or(near) {
        Some(other) => format!("`mcpServers` is missing; rename `{other}` to `mcpServers`"),
        None => "`mcpServers` is missing".to_owned(),
    }
}

/// `mcpServers.NAME`, quoted if the name would be ambiguous.
pub(crate) fn field_of(list: &str, name: &str) -> String {
    let plain = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '@'));
    if plain {
        format!("{list}.{name}")
    } else {
        format!("{list}.{name:?}")
    }
}

struct EntryReader<'a> {
    list: &'a str,
    file: &'a Path,
    expansion: Expansion<'a>,
    diagnostics: Diagnostics,
    /// Secret values that the entry refers to.
    referred: BTreeSet<String>,
}

impl EntryReader<'_> {
    /// Base of relative paths.
    fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    fn server(&mut self, name: &str, node: &JsonValue) -> Option<ServerConfig> {
        let field = field_of(self.list, name);
        let JsonValue::Object(entries) = node else {
            self.wrong(&field, "an object", node);
            return None;
        };
        self.check_fields(&field, entries);
        let get = |key: &str| {
            let found = entries.iter().find(|(name, _)| name == key);
            // Some clients write `null` for an absent field.
            found
                .map(|(_, node)| node)
                .filter(|node| **node != JsonValue::Null)
        };
        let disabled = get("disabled").is_some_and(|node| match node {
            JsonValue::Bool(disabled) => *disabled,
            other => {
                self.wrong(&format!("{field}.disabled"), "true or false", other);
                true
            }
        });
        // A disabled server is not used, so its variables may be unset.
        let expansion = if disabled { Expansion::Off } else { self.expansion };
        let before = (self.diagnostics.mistakes.len(), self.diagnostics.left_out.len());
        let transport = if remote::is_remote(entries) {
            let http = self.remote(&field, entries, expansion);
            Transport::Http(http.unwrap_or_default())
        } else {
            if get("command").is_none() {
                self.check_type(&field, get("type"));
            }
            Transport::Stdio(Stdio {
                command: self
                    .command(&field, get("command"), expansion)
                    .unwrap_or_default(),
                args: self.strings(&format!("{field}.args"), get("args"), expansion),
                env: self.env(&format!("{field}.env"), get("env"), expansion),
                cwd: self
                    .string(&format!("{field}.cwd"), get("cwd"), expansion)
                    .map(|cwd| self.directory().join(cwd)),
                sandbox: self.sandbox(&format!("{field}.sandbox"), get("sandbox"), expansion),
                limits: self.limits(&format!("{field}.limits"), get("limits")),
            })
        };
        let referred = std::mem::take(&mut self.referred);
        let server = ServerConfig {
            name: name.to_owned(),
            secrets: if expansion.is_on() {
                secret_values(&transport, referred)
            } else {
                SecretValues::default()
            },
            transport,
            trusted: self.trusted(&format!("{field}.trusted"), get("trusted")),
            max_calls: self.max_calls(&format!("{field}.maxCalls"), get("maxCalls")),
            max_calls_per_minute: self
                .max_calls_per_minute(&format!("{field}.maxCallsPerMinute"), get("maxCallsPerMinute")),
            idle_stop: self.idle_stop(&format!("{field}.idleStop"), get("idleStop")),
            description: self.string(
                &format!("{field}.description"),
                get("description"),
                Expansion::Off,
            ),
            timeout: self.timeout(&format!("{field}.timeout"), get("timeout")),
            tools: self.rules(name, &field, get("allow"), get("deny")),
            tags: self.strings(&format!("{field}.tags"), get("tags"), Expansion::Off),
            ownership: None,
        };
        let found = (self.diagnostics.mistakes.len(), self.diagnostics.left_out.len());
        (!disabled && found == before).then_some(server)
    }

    /// Warns about ignored fields, and reports duplicates.
    fn check_fields(&mut self, field: &str, entries: &[(String, JsonValue)]) {
        let known: &[&str] = if remote::is_remote(entries) {
            &remote::FIELDS
        } else {
            &FIELDS
        };
        let mut seen = Vec::new();
        for (key, node) in entries {
            let path = format!("{field}.{key}");
            if seen.contains(&key) {
                self.diagnostics
                    .mistake(&path, "the field appears more than once");
            }
            seen.push(key);
            let stdio = key == "type" && *node == JsonValue::String("stdio".to_owned());
            // `command` together with an address is reported elsewhere.
            if known.contains(&key.as_str()) || stdio || matches!(key.as_str(), "command" | "disabled") {
                continue;
            }
            let hint = match (key.as_str(), nearest(key, known.iter().copied())) {
                ("enabled", _) => "; write `\"disabled\": true` to disable a server".to_owned(),
                (_, Some(near)) => format!("; did you mean `{near}`?"),
                _ => String::new(),
            };
            self.diagnostics
                .warning(&path, format!("codeyard does not use this field{hint}"));
        }
    }

    fn command(&mut self, field: &str, node: Option<&JsonValue>, expansion: Expansion<'_>) -> Option<String> {
        let path = format!("{field}.command");
        let Some(node) = node else {
            self.diagnostics
                .mistake(&path, "is missing; write the program that starts the server");
            return None;
        };
        if matches!(node, JsonValue::Array(_)) {
            self.diagnostics.mistake(
                &path,
                "expected a string, found an array; write the program here and the rest in `args`",
            );
            return None;
        }
        let command = self.string(&path, Some(node), expansion)?;
        if command.trim().is_empty() {
            self.diagnostics
                .mistake(&path, "is empty; write the program that starts the server");
        }
        Some(command)
    }

    fn string(&mut self, field: &str, node: Option<&JsonValue>, expansion: Expansion<'_>) -> Option<String> {
        match node? {
            JsonValue::String(text) => self.expanded(field, text, expansion),
            other => {
                self.wrong(field, "a string", other);
                None
            }
        }
    }

    fn strings(&mut self, field: &str, node: Option<&JsonValue>, expansion: Expansion<'_>) -> Vec<String> {
        match node {
            None => Vec::new(),
            Some(JsonValue::Array(items)) => items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| self.string(&format!("{field}[{index}]"), Some(item), expansion))
                .collect(),
            Some(other) => {
                self.wrong(field, "an array of strings", other);
                Vec::new()
            }
        }
    }

    fn env(
        &mut self,
        field: &str,
        node: Option<&JsonValue>,
        expansion: Expansion<'_>,
    ) -> BTreeMap<String, String> {
        let mut env = BTreeMap::new();
        match node {
            None => {}
            Some(JsonValue::Object(entries)) => {
                for (name, value) in entries {
                    let path = format!("{field}.{name}");
                    if name.is_empty() || name.contains(|c: char| c == '=' || c.is_control()) {
                        let rule = "is not a variable name: it is empty or holds `=` or a control character";
                        self.diagnostics.mistake(&path, rule);
                    } else if let Some(value) = self.string(&path, Some(value), expansion)
                        && env.insert(name.clone(), value).is_some()
                    {
                        self.diagnostics
                            .mistake(&path, "the variable appears more than once");
                    }
                }
            }
            Some(other) => self.wrong(field, "an object of strings", other),
        }
        env
    }

    fn timeout(&mut self, field: &str, node: Option<&JsonValue>) -> Option<Duration> {
        match node? {
            JsonValue::Natural(ms) if (1..=MAX_TIMEOUT_MS).contains(ms) => Some(Duration::from_millis(*ms)),
            JsonValue::Natural(_) | JsonValue::Number(_) => {
                self.diagnostics.mistake(
                    field,
                    format!("expected a whole number of milliseconds from 1 to {MAX_TIMEOUT_MS}"),
                );
                None
            }
            other => {
                self.wrong(field, "a number of milliseconds", other);
                None
            }
        }
    }

    fn expanded(&mut self, field: &str, text: &str, expansion: Expansion<'_>) -> Option<String> {
        if text.contains('\0') {
            self.diagnostics
                .mistake(field, "holds a NUL byte, which no program can be given");
            return None;
        }
        let (env, leaves_out) = match expansion {
            Expansion::Off => return Some(text.to_owned()),
            Expansion::Required(env) => (env, false),
            Expansion::LeaveOutUnset(env) => (env, true),
        };
        let errors = match expand(text, env) {
            Ok(expanded) => {
                self.referred.extend(secrets(text, env));
                return Some(expanded);
            }
            Err(errors) => errors,
        };
        for error in errors {
            // Clients start codeyard with different variables, so an unset variable is not a mistake
            // of the file.
            if leaves_out && error.is_unset() {
                self.diagnostics
                    .left_out(field, format!("the server is not used: {error}"));
            } else {
                self.diagnostics.mistake(field, error.to_string());
            }
        }
        None
    }

    fn wrong(&mut self, field: &str, expected: &str, found: &JsonValue) {
        self.diagnostics
            .mistake(field, format!("expected {expected}, found {}", found.kind()));
    }
}
