//! Translates a client's server entry to an entry of our `mcpServers`.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::client::Client;
use crate::filter::{Filter, Names};
use crate::variables::Translator;

/// Fields without effect on the started process, which are omitted without a note.
const IGNORED: [&str; 16] = [
    "type",
    "transport",
    "source",
    "name",
    "display_name",
    "bundled",
    "icon",
    "gallery",
    "version",
    "enabled",
    "disabled",
    "trust",
    "alwaysAllow",
    "autoApprove",
    "startup_timeout_sec",
    "required",
];

/// Fields with the only tools that the model may use.
const ALLOW_LISTS: [&str; 4] = ["includeTools", "enabled_tools", "enabledTools", "available_tools"];

/// Fields with tools that the model may not use.
const DENY_LISTS: [&str; 3] = ["excludeTools", "disabled_tools", "disabledTools"];

/// Fields that make the client confirm calls or confine the server.
const GUARDS: [&str; 7] = [
    "sandboxEnabled",
    "sandbox",
    "default_tools_approval_mode",
    "tools",
    "approval_mode",
    // Fields with our own names; their meaning in this client is unknown.
    "allow",
    "deny",
];

/// Range of a call's time limit in our definitions: up to a day.
const MIN_TIMEOUT: Duration = Duration::from_millis(1);
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug)]
pub(crate) struct Translated {
    pub(crate) definition: Map<String, Value>,
    pub(crate) is_enabled: bool,
    /// A file of further variables for the server.
    pub(crate) env_file: Option<String>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) notes: Vec<String>,
    pub(crate) gaps: Vec<String>,
}

/// Translates an entry. The error is the reason why codeyard cannot use the entry.
pub(crate) fn translate(client: Client, project: Option<&Path>, entry: &Value) -> Result<Translated, String> {
    let Value::Object(fields) = entry else {
        return Err("is not an object".to_owned());
    };
    let mut reader = EntryReader {
        fields,
        used: Vec::new(),
        env_file: None,
        filters: Vec::new(),
        definition: Map::new(),
        translator: Translator {
            client,
            project,
            notes: Vec::new(),
            gaps: Vec::new(),
        },
    };
    reader.read()?;
    let is_off = fields.get("disabled") == Some(&Value::Bool(true))
        || fields.get("enabled") == Some(&Value::Bool(false));
    reader.note_the_rest();
    Ok(Translated {
        definition: reader.definition,
        is_enabled: !is_off,
        env_file: reader.env_file,
        filters: reader.filters,
        notes: reader.translator.notes,
        gaps: reader.translator.gaps,
    })
}

struct EntryReader<'a> {
    fields: &'a Map<String, Value>,
    used: Vec<&'static str>,
    env_file: Option<String>,
    filters: Vec<Filter>,
    definition: Map<String, Value>,
    translator: Translator<'a>,
}

impl<'a> EntryReader<'a> {
    fn read(&mut self) -> Result<(), String> {
        let kind = self
            .fields
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if matches!(kind, "builtin" | "platform" | "frontend" | "inline_python") {
            return Err(format!(
                "is a part of {} itself, not a server",
                self.translator.client
            ));
        }
        let is_extension = self.fields.get("source").and_then(Value::as_str) == Some("extension");
        if is_extension {
            return Err("is an extension, whose command codeyard cannot read".to_owned());
        }
        self.used.extend(["serverUrl", "httpUrl", "url", "uri"]);
        let address = ["serverUrl", "httpUrl", "url", "uri"]
            .into_iter()
            .find(|key| self.has(key));
        match address {
            Some(key) => self.remote(key, kind)?,
            None => self.process()?,
        }
        self.timeout();
        if let Some(text) = self.take("description").and_then(Value::as_str)
            && !text.is_empty()
        {
            self.definition.insert("description".to_owned(), text.into());
        }
        Ok(())
    }

    fn process(&mut self) -> Result<(), String> {
        let command = self.take("command").or_else(|| self.take("cmd"));
        self.used.push("cmd");
        let (program, mut args) = match command {
            None => return Err("has neither a command nor an address".to_owned()),
            Some(Value::String(program)) => (program.as_str(), Vec::new()),
            Some(Value::Array(words)) => {
                let words = strings("command", words)?;
                let mut words = words.into_iter();
                let program = words.next().ok_or("`command` is empty")?;
                self.set_command(&program, words.collect())?;
                return self.surroundings();
            }
            // Zed's former format.
            Some(Value::Object(parts)) => {
                let program = parts.get("path").and_then(Value::as_str);
                let args = parts.get("args").and_then(Value::as_array);
                let args = args.map(|args| strings("command.args", args)).transpose()?;
                if let Some(Value::Object(env)) = parts.get("env") {
                    self.pairs("env", env)?;
                }
                (
                    program.ok_or("`command.path` is missing")?,
                    args.unwrap_or_default(),
                )
            }
            Some(_) => return Err("`command` is not a string".to_owned()),
        };
        if let Some(more) = self.array("args")? {
            args.extend(more);
        }
        self.set_command(program, args)?;
        self.surroundings()
    }

    fn set_command(&mut self, program: &str, args: Vec<String>) -> Result<(), String> {
        if program.trim().is_empty() {
            return Err("`command` is empty".to_owned());
        }
        let program = self.translator.text(program);
        self.definition.insert("command".to_owned(), program.into());
        if !args.is_empty() {
            let args: Vec<String> = args.iter().map(|word| self.translator.text(word)).collect();
            self.definition.insert("args".to_owned(), args.into());
        }
        Ok(())
    }

    fn surroundings(&mut self) -> Result<(), String> {
        for key in ["env", "environment", "envs"] {
            match self.take(key) {
                None => {}
                Some(Value::Object(env)) => self.pairs("env", env)?,
                Some(_) => return Err(format!("`{key}` is not an object")),
            }
        }
        // Codex passes variables if they exist. Variables in Goose's keyring must exist.
        for (key, end) in [("env_vars", ":-}"), ("env_keys", "}")] {
            for name in self.variable_names(key)? {
                let value = format!("${{{name}{end}");
                self.insert("env", &name, value);
            }
        }
        if let Some(file) = self.take("envFile").and_then(Value::as_str) {
            self.env_file = Some(self.translator.text(file));
        }
        let cwd = self
            .take("cwd")
            .and_then(Value::as_str)
            .map(|cwd| self.translator.text(cwd));
        let cwd = match (cwd, self.translator.project) {
            // A relative path would be resolved against the directory of our own file.
            (Some(cwd), Some(project)) if !cwd.starts_with(['/', '$']) => {
                Some(project.join(cwd).to_string_lossy().into_owned())
            }
            (None, Some(project)) => Some(project.to_string_lossy().into_owned()),
            (cwd, _) => cwd,
        };
        if let Some(cwd) = cwd {
            self.definition.insert("cwd".to_owned(), cwd.into());
        }
        Ok(())
    }

    fn remote(&mut self, key: &'static str, kind: &str) -> Result<(), String> {
        let address = self.take(key).and_then(Value::as_str);
        let address = address.ok_or_else(|| format!("`{key}` is not a string"))?;
        if address.starts_with("unix:") || address.starts_with("pipe:") {
            return Err(format!(
                "`{key}` is a socket; codeyard connects over http and https"
            ));
        }
        let spoken = match (kind, key) {
            ("sse", _) => Some("sse"),
            ("http" | "streamable-http" | "streamable_http" | "streamableHttp", _) | (_, "httpUrl") => {
                Some("http")
            }
            (_, "url") if self.translator.client == Client::GeminiCli => Some("sse"),
            _ => None,
        };
        if let Some(spoken) = spoken {
            self.definition.insert("type".to_owned(), spoken.into());
        }
        let address = self.translator.text(address);
        self.definition.insert("url".to_owned(), address.into());
        for key in ["headers", "http_headers", "requestInit"] {
            match self.take(key) {
                None => {}
                Some(Value::Object(headers)) if key != "requestInit" => self.pairs("headers", headers)?,
                Some(_) => return Err(format!("`{key}` is not understood")),
            }
        }
        if let Some(name) = self.take("bearer_token_env_var").and_then(Value::as_str) {
            self.insert("headers", "Authorization", format!("Bearer ${{{name}}}"));
        }
        if let Some(Value::Object(headers)) = self.take("env_http_headers") {
            for (header, variable) in headers {
                let variable = variable
                    .as_str()
                    .ok_or("`env_http_headers` holds a value that is not a string")?;
                self.insert("headers", header, format!("${{{variable}}}"));
            }
        }
        for key in ["oauth", "auth", "scopes", "oauth_resource", "authProviderType"] {
            if self.take(key).is_some_and(|value| value.as_bool() != Some(false)) {
                let note = "a login is not taken over; log in with `codeyard login NAME`";
                self.translator.note(note.to_owned());
            }
        }
        Ok(())
    }

    /// Members of an object of texts; numbers and flags become texts.
    fn pairs(&mut self, field: &str, pairs: &Map<String, Value>) -> Result<(), String> {
        for (name, value) in pairs {
            let text = match value {
                Value::String(text) => self.translator.text(text),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return Err(format!("`{field}.{name}` is not a string")),
            };
            self.insert(field, name, text);
        }
        Ok(())
    }

    fn insert(&mut self, field: &str, name: &str, value: String) {
        let members = self
            .definition
            .entry(field)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(members) = members.as_object_mut() {
            members.insert(name.to_owned(), value.into());
        }
    }

    /// Time limit of a call in milliseconds, converted from the client's unit.
    fn timeout(&mut self) {
        let (key, unit) = match self.translator.client {
            Client::GeminiCli => ("timeout", 0.001),
            Client::Codex => ("tool_timeout_sec", 1.0),
            Client::Goose => ("timeout", 1.0),
            _ => {
                // In other clients, `timeout` limits the start, or is undocumented.
                self.used.push("timeout");
                return;
            }
        };
        let given = self.take(key).and_then(Value::as_f64);
        let time = given.and_then(|number| Duration::try_from_secs_f64(number * unit).ok());
        if let Some(time) = time.filter(|time| (MIN_TIMEOUT..=MAX_TIMEOUT).contains(time)) {
            // At most a day, so the conversion cannot fail.
            let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            self.definition.insert("timeout".to_owned(), ms.into());
        }
    }

    /// Names of variables passed to a server.
    fn variable_names(&mut self, key: &'static str) -> Result<Vec<String>, String> {
        let Some(value) = self.take(key) else {
            return Ok(Vec::new());
        };
        let items = value.as_array().ok_or_else(|| format!("`{key}` is not a list"))?;
        let name = |item: &Value| item.as_str().or_else(|| item["name"].as_str()).map(str::to_owned);
        let names = items.iter().map(name).collect::<Option<Vec<String>>>();
        names.ok_or_else(|| format!("`{key}` holds an item that is not a name"))
    }

    fn array(&mut self, key: &'static str) -> Result<Option<Vec<String>>, String> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Array(items)) => strings(key, items).map(Some),
            Some(_) => Err(format!("`{key}` is not a list")),
        }
    }

    fn has(&self, key: &str) -> bool {
        self.fields.get(key).is_some_and(|value| !value.is_null())
    }

    fn take(&mut self, key: &'static str) -> Option<&'a Value> {
        self.used.push(key);
        self.fields.get(key).filter(|value| !value.is_null())
    }

    /// Adds notes about omitted fields. A field that hides tools becomes a gap, so that a person must review the entry.
    fn note_the_rest(&mut self) {
        let is_left = |key: &&str| !self.used.contains(key) && !IGNORED.contains(key) && self.has(key);
        let rest: Vec<&str> = self.fields.keys().map(String::as_str).filter(is_left).collect();
        let mut others = Vec::new();
        for key in rest {
            let value = &self.fields[key];
            let is_empty = value.as_array().is_some_and(Vec::is_empty);
            match key {
                _ if DENY_LISTS.contains(&key) && is_empty => {}
                // An empty list of Goose allows every tool.
                "available_tools" if is_empty => {}
                _ if DENY_LISTS.contains(&key) || ALLOW_LISTS.contains(&key) => {
                    let names = match ALLOW_LISTS.contains(&key) {
                        true => Names::Shown,
                        false => Names::Hidden,
                    };
                    match Filter::of(key, &self.plain(key, value), names) {
                        Some(filter) => self.filters.push(filter),
                        None => self.translator.gap(format!(
                            "`{key}` hides tools from the model, but is not a list of names that a rule can match; fix it there, then import it"
                        )),
                    }
                }
                _ if GUARDS.contains(&key) && value.as_bool() != Some(false) => self.translator.gap(format!(
                    "`{key}` guards this server in {}, and is not taken over; see `[policy]` of codeyard.toml and `sandbox` of the entry",
                    self.translator.client
                )),
                _ if GUARDS.contains(&key) => {}
                _ => others.push(key),
            }
        }
        if !others.is_empty() {
            self.translator
                .note(format!("`{}` is not taken over", others.join("`, `")));
        }
    }

    /// The effective list: Gemini CLI reads `name(...)` in `includeTools` as the name.
    fn plain(&self, key: &str, value: &Value) -> Value {
        let names = value.as_array().filter(|_| key == "includeTools");
        let Some(names) = names.filter(|_| self.translator.client == Client::GeminiCli) else {
            return value.clone();
        };
        let plain = |name: &Value| match name.as_str().and_then(|name| name.split_once('(')) {
            Some((name, _)) => name.into(),
            None => name.clone(),
        };
        names.iter().map(plain).collect()
    }
}

fn strings(field: &str, items: &[Value]) -> Result<Vec<String>, String> {
    let text = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(item.to_string()),
        _ => None,
    };
    let texts = items.iter().map(text).collect::<Option<Vec<String>>>();
    texts.ok_or_else(|| format!("`{field}` holds a value that is not a string"))
}
