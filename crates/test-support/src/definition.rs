//! Definitions of test servers, in the form of a client's configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::amplify::Shape;
use crate::programs::stub_server;
use crate::servers::Era;

/// One entry of `mcpServers`.
#[derive(Debug, Clone, Default)]
pub struct ServerDefinition {
    /// The program's path or name.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment variables.
    pub env: BTreeMap<String, String>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// The purpose shown to the model.
    pub description: Option<String>,
    /// Longest wait for an answer, in milliseconds.
    pub timeout: Option<u64>,
    /// Further fields of the entry.
    pub fields: serde_json::Map<String, Value>,
}

impl ServerDefinition {
    /// A server of any program.
    pub fn new(command: impl Into<String>, args: &[&str]) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self {
            command: command.into(),
            args,
            ..Self::default()
        }
    }

    /// The `stub` server of the acceptance cases.
    pub fn stub() -> Self {
        Self::test_server(&["stub"]).description("Stub server")
    }

    /// The stub with the extra tools for tests of the hub.
    pub fn stub_with_extras() -> Self {
        Self::test_server(&["stub", "--extras"])
    }

    /// A misbehaving server; `servers/hostile.rs` lists the modes.
    pub fn hostile(mode: &str) -> Self {
        Self::test_server(&["hostile", mode])
    }

    /// A server that answers with input of every shape and lists a tool whose definition has this shape.
    pub fn amplify(shape: Shape, bytes: usize) -> Self {
        Self::test_server(&["amplify", &format!("{}:{bytes}", shape.name())])
    }

    /// A server with the tool list of a real one.
    pub fn replay(server: &str) -> Self {
        let file = crate::catalogue::file(server);
        Self::test_server(&["replay", &file.to_string_lossy()])
    }

    /// A server of this crate's `fixtures` with fixed answers.
    pub fn canned(fixture: &str) -> Self {
        let file = format!("{}/fixtures/{fixture}.json", env!("CARGO_MANIFEST_DIR"));
        Self::test_server(&["canned", &file])
    }

    fn test_server(args: &[&str]) -> Self {
        Self::new(stub_server().to_string_lossy(), args)
    }

    /// Sets the protocol revision; the default is 2025-11-25.
    pub fn era(self, era: Era) -> Self {
        self.arg("--era").arg(era.version())
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds a variable.
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the working directory.
    pub fn cwd(mut self, directory: &Path) -> Self {
        self.cwd = Some(directory.to_owned());
        self
    }

    /// Sets the purpose.
    pub fn description(mut self, description: &str) -> Self {
        self.description = Some(description.to_owned());
        self
    }

    /// Sets the longest wait for an answer.
    pub fn timeout(mut self, milliseconds: u64) -> Self {
        self.timeout = Some(milliseconds);
        self
    }

    /// Adds a field to the entry.
    pub fn field(mut self, name: &str, value: Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    /// The entry in its file form.
    pub fn to_json(&self) -> Value {
        let mut entry = json!({"command": self.command, "args": self.args});
        if !self.env.is_empty() {
            entry["env"] = json!(self.env);
        }
        if let Some(cwd) = &self.cwd {
            entry["cwd"] = json!(cwd);
        }
        if let Some(description) = &self.description {
            entry["description"] = json!(description);
        }
        if let Some(timeout) = self.timeout {
            entry["timeout"] = json!(timeout);
        }
        for (name, value) in &self.fields {
            entry[name] = value.clone();
        }
        entry
    }
}
