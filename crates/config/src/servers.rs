//! Reads one `mcpServers` file: which upstream servers there are and how each is started or reached.

mod care;
mod hidden;
mod remote;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use upstream::ServerConfig;
use upstream_wire::{SecretValues, Stdio, Transport};

use crate::expand::{expand, secrets};
use crate::host::Host;
use crate::json::Node;
use crate::mistakes::{Findings, Warning, nearest};
pub(crate) use hidden::secrets as secrets_of;

/// The list of the servers.
pub(crate) const LIST: &str = "mcpServers";

/// Our fields of one server.
const FIELDS: [&str; 14] = [
    "trusted",
    "maxCalls",
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
];

/// Names under which other clients list their servers.
const FOREIGN_LISTS: [&str; 4] = ["servers", "context_servers", "mcp", "mcp_servers"];

/// Longest time-out of a call that a definition may set: a day.
const MAX_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// Longest name of a server.
const MAX_NAME: usize = 128;

/// One name of a file, also if it is disabled or skipped: a later file may not bring it back.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Its place in the file, for messages.
    pub(crate) field: String,
    pub(crate) server: Option<ServerConfig>,
    /// Variables that are not set, for which it is left out.
    pub(crate) left_out: Vec<Warning>,
}

/// What variables in the file mean.
#[derive(Clone, Copy)]
pub(crate) enum Variables<'a> {
    /// They are those of this machine; one that is not set is a mistake.
    Expand(&'a dyn Host),
    /// They are those of this machine; a server that refers to one that is not set is left out.
    ExpandOrLeave(&'a dyn Host),
    /// They stay as they are written, to be shown to a person.
    Keep,
}

// === impl Variables ===

impl Variables<'_> {
    /// Whether what is read is what is used.
    fn are_expanded(self) -> bool {
        !matches!(self, Variables::Keep)
    }
}

/// Reads a file's content.
pub(crate) fn read(file: &Path, bytes: &[u8], variables: Variables<'_>) -> (Vec<Entry>, Findings) {
    let mut findings = Findings::of(Some(file));
    let entries = match Node::parse(bytes) {
        Ok(Node::Object(top)) => list(&top, &mut findings),
        Ok(other) => {
            findings.mistake(
                "",
                format!("expected an object with `mcpServers`, found {}", other.kind()),
            );
            Vec::new()
        }
        Err((place, message)) => {
            findings.mistake(&place, message);
            Vec::new()
        }
    };
    let mut reader = Reader {
        list: LIST,
        file,
        variables,
        findings,
        referred: BTreeSet::new(),
    };
    let entries = entries
        .iter()
        .map(|(name, node)| Entry {
            name: name.clone(),
            field: field_of(LIST, name),
            server: reader.server(name, node),
            left_out: std::mem::take(&mut reader.findings.left_out),
        })
        .collect();
    (entries, reader.findings)
}

/// Reads one entry of a list of that name by itself.
pub(crate) fn read_entry(
    file: &Path,
    list: &str,
    (name, node): &(String, Node),
    variables: Variables<'_>,
) -> (Entry, Findings) {
    let mut reader = Reader {
        list,
        file,
        variables,
        findings: Findings::of(Some(file)),
        referred: BTreeSet::new(),
    };
    let field = field_of(list, name);
    judge_name(&field, name, &mut reader.findings);
    let entry = Entry {
        name: name.clone(),
        server: reader.server(name, node),
        field,
        left_out: std::mem::take(&mut reader.findings.left_out),
    };
    (entry, reader.findings)
}

/// Finds `mcpServers` and judges the names in it and beside it.
fn list(top: &[(String, Node)], findings: &mut Findings) -> Vec<(String, Node)> {
    let lists: Vec<&Node> = top
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
        [Node::Object(entries)] => entries.clone(),
        [other] => {
            findings.mistake(
                "mcpServers",
                format!("expected an object, found {}", other.kind()),
            );
            Vec::new()
        }
        [] => {
            findings.mistake("", missing_list(&others));
            return Vec::new();
        }
        _ => {
            findings.mistake("mcpServers", "appears more than once; write one list");
            Vec::new()
        }
    };
    if !others.is_empty() {
        let names = others.join("`, `");
        findings.warning("", format!("`{names}` is not used by codeyard"));
    }
    let mut seen = Vec::new();
    for (name, _) in &entries {
        let field = field_of(LIST, name);
        judge_name(&field, name, findings);
        if seen.contains(&name) {
            findings.mistake(&field, "the name appears more than once; rename one of them");
        }
        seen.push(name);
    }
    entries
}

fn judge_name(field: &str, name: &str, findings: &mut Findings) {
    if name.trim().is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
        let rule = format!("a server's name is 1 to {MAX_NAME} printable characters");
        findings.mistake(field, rule);
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

/// `mcpServers.NAME`, quoted where the name would read as something else.
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

/// Reads the servers of one file.
struct Reader<'a> {
    /// The name of the list.
    list: &'a str,
    file: &'a Path,
    variables: Variables<'a>,
    findings: Findings,
    /// Secrets that the entry refers to.
    referred: BTreeSet<String>,
}

impl Reader<'_> {
    /// What relative paths count from.
    fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    fn server(&mut self, name: &str, node: &Node) -> Option<ServerConfig> {
        let field = field_of(self.list, name);
        let Node::Object(entries) = node else {
            self.wrong(&field, "an object", node);
            return None;
        };
        self.judge_fields(&field, entries);
        let get = |key: &str| {
            let found = entries.iter().find(|(name, _)| name == key);
            // `null` is how some clients write that a field is not there.
            found.map(|(_, node)| node).filter(|node| **node != Node::Null)
        };
        let disabled = get("disabled").is_some_and(|node| match node {
            Node::Bool(disabled) => *disabled,
            other => {
                self.wrong(&format!("{field}.disabled"), "true or false", other);
                true
            }
        });
        // Nothing of a disabled server is used, so its variables need not be set.
        let variables = if disabled { Variables::Keep } else { self.variables };
        let before = (self.findings.mistakes.len(), self.findings.left_out.len());
        let transport = if remote::is_remote(entries) {
            let http = self.remote(&field, entries, variables);
            Transport::Http(http.unwrap_or_default())
        } else {
            if get("command").is_none() {
                self.judge_type(&field, get("type"));
            }
            Transport::Stdio(Stdio {
                command: self
                    .command(&field, get("command"), variables)
                    .unwrap_or_default(),
                args: self.strings(&format!("{field}.args"), get("args"), variables),
                env: self.env(&format!("{field}.env"), get("env"), variables),
                cwd: self
                    .string(&format!("{field}.cwd"), get("cwd"), variables)
                    .map(|cwd| self.directory().join(cwd)),
                sandbox: self.sandbox(&format!("{field}.sandbox"), get("sandbox"), variables),
                limits: self.limits(&format!("{field}.limits"), get("limits")),
            })
        };
        let referred = std::mem::take(&mut self.referred);
        let server = ServerConfig {
            name: name.to_owned(),
            secrets: if variables.are_expanded() {
                secrets_of(&transport, referred)
            } else {
                SecretValues::default()
            },
            transport,
            trusted: self.trusted(&format!("{field}.trusted"), get("trusted")),
            max_calls: self.max_calls(&format!("{field}.maxCalls"), get("maxCalls")),
            idle_stop: self.idle_stop(&format!("{field}.idleStop"), get("idleStop")),
            description: self.string(
                &format!("{field}.description"),
                get("description"),
                Variables::Keep,
            ),
            timeout: self.timeout(&format!("{field}.timeout"), get("timeout")),
            tools: self.rules(name, &field, get("allow"), get("deny")),
        };
        let found = (self.findings.mistakes.len(), self.findings.left_out.len());
        (!disabled && found == before).then_some(server)
    }

    /// Warns of fields that codeyard does not read, and refuses fields that are given twice.
    fn judge_fields(&mut self, field: &str, entries: &[(String, Node)]) {
        let known: &[&str] = if remote::is_remote(entries) {
            &remote::FIELDS
        } else {
            &FIELDS
        };
        let mut seen = Vec::new();
        for (key, node) in entries {
            let path = format!("{field}.{key}");
            if seen.contains(&key) {
                self.findings.mistake(&path, "the field appears more than once");
            }
            seen.push(key);
            let stdio = key == "type" && *node == Node::String("stdio".to_owned());
            // `command` beside an address is a mistake of its own.
            if known.contains(&key.as_str()) || stdio || matches!(key.as_str(), "command" | "disabled") {
                continue;
            }
            let hint = match (key.as_str(), nearest(key, known.iter().copied())) {
                ("enabled", _) => {
                    "; write `\"disabled\": true` for a server that is not to be used".to_owned()
                }
                (_, Some(near)) => format!("; did you mean `{near}`?"),
                _ => String::new(),
            };
            self.findings
                .warning(&path, format!("codeyard does not use this field{hint}"));
        }
    }

    fn command(&mut self, field: &str, node: Option<&Node>, variables: Variables<'_>) -> Option<String> {
        let path = format!("{field}.command");
        let Some(node) = node else {
            self.findings
                .mistake(&path, "is missing; write the program that starts the server");
            return None;
        };
        if matches!(node, Node::Array(_)) {
            self.findings.mistake(
                &path,
                "expected a string, found an array; write the program here and the rest in `args`",
            );
            return None;
        }
        let command = self.string(&path, Some(node), variables)?;
        if command.trim().is_empty() {
            self.findings
                .mistake(&path, "is empty; write the program that starts the server");
        }
        Some(command)
    }

    fn string(&mut self, field: &str, node: Option<&Node>, variables: Variables<'_>) -> Option<String> {
        match node? {
            Node::String(text) => self.expanded(field, text, variables),
            other => {
                self.wrong(field, "a string", other);
                None
            }
        }
    }

    fn strings(&mut self, field: &str, node: Option<&Node>, variables: Variables<'_>) -> Vec<String> {
        match node {
            None => Vec::new(),
            Some(Node::Array(items)) => items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| self.string(&format!("{field}[{index}]"), Some(item), variables))
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
        node: Option<&Node>,
        variables: Variables<'_>,
    ) -> BTreeMap<String, String> {
        let mut env = BTreeMap::new();
        match node {
            None => {}
            Some(Node::Object(entries)) => {
                for (name, value) in entries {
                    let path = format!("{field}.{name}");
                    if name.is_empty() || name.contains(|c: char| c == '=' || c.is_control()) {
                        let rule =
                            "is no name of a variable: it is empty or holds `=` or a control character";
                        self.findings.mistake(&path, rule);
                    } else if let Some(value) = self.string(&path, Some(value), variables)
                        && env.insert(name.clone(), value).is_some()
                    {
                        self.findings
                            .mistake(&path, "the variable appears more than once");
                    }
                }
            }
            Some(other) => self.wrong(field, "an object of strings", other),
        }
        env
    }

    fn timeout(&mut self, field: &str, node: Option<&Node>) -> Option<Duration> {
        match node? {
            Node::Natural(ms) if (1..=MAX_TIMEOUT_MS).contains(ms) => Some(Duration::from_millis(*ms)),
            Node::Natural(_) | Node::Number(_) => {
                self.findings.mistake(
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

    fn expanded(&mut self, field: &str, text: &str, variables: Variables<'_>) -> Option<String> {
        if text.contains('\0') {
            self.findings
                .mistake(field, "holds a NUL byte, which no program can be given");
            return None;
        }
        let (host, leaves) = match variables {
            Variables::Keep => return Some(text.to_owned()),
            Variables::Expand(host) => (host, false),
            Variables::ExpandOrLeave(host) => (host, true),
        };
        let errors = match expand(text, host) {
            Ok(expanded) => {
                self.referred.extend(secrets(text, host));
                return Some(expanded);
            }
            Err(errors) => errors,
        };
        for error in errors {
            // What is set differs from one client to the next, so it is no mistake of the file.
            if leaves && error.is_unset() {
                self.findings
                    .left_out(field, format!("the server is not used: {error}"));
            } else {
                self.findings.mistake(field, error.to_string());
            }
        }
        None
    }

    fn wrong(&mut self, field: &str, expected: &str, found: &Node) {
        self.findings
            .mistake(field, format!("expected {expected}, found {}", found.kind()));
    }
}
