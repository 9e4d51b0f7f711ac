//! Definitions of test servers, as they stand in a client's configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::amplify::Shape;
use crate::programs::stub_server;
use crate::servers::Era;

/// One entry of `mcpServers`.
#[derive(Debug, Clone, Default)]
pub struct ServerDefinition {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables.
    pub env: BTreeMap<String, String>,
    /// Where it runs.
    pub cwd: Option<PathBuf>,
    /// What it is for.
    pub description: Option<String>,
    /// Longest wait for an answer, in milliseconds.
    pub timeout: Option<u64>,
    /// Further fields of its entry.
    pub fields: serde_json::Map<String, Value>,
}

impl ServerDefinition {
    /// Any program.
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

    /// The stub with the tools that tests of the hub need.
    pub fn stub_with_extras() -> Self {
        Self::test_server(&["stub", "--extras"])
    }

    /// A server that misbehaves in this way; see `servers/hostile.rs` for the modes.
    pub fn hostile(mode: &str) -> Self {
        Self::test_server(&["hostile", mode])
    }

    /// A server that answers with input of every shape, and lists a tool whose definition has this one.
    pub fn amplify(shape: Shape, bytes: usize) -> Self {
        Self::test_server(&["amplify", &format!("{}:{bytes}", shape.name())])
    }

    /// A server that lists the tools of a real one.
    pub fn replay(server: &str) -> Self {
        let file = crate::catalogue::file(server);
        Self::test_server(&["replay", &file.to_string_lossy()])
    }

    /// A server of this crate's `fixtures` whose answers are data.
    pub fn canned(fixture: &str) -> Self {
        let file = format!("{}/fixtures/{fixture}.json", env!("CARGO_MANIFEST_DIR"));
        Self::test_server(&["canned", &file])
    }

    fn test_server(args: &[&str]) -> Self {
        Self::new(stub_server().to_string_lossy(), args)
    }

    /// Speaks this revision; 2025-11-25 if nothing is said.
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

    /// Runs it there.
    pub fn cwd(mut self, directory: &Path) -> Self {
        self.cwd = Some(directory.to_owned());
        self
    }

    /// Says what it is for.
    pub fn description(mut self, description: &str) -> Self {
        self.description = Some(description.to_owned());
        self
    }

    /// Bounds each wait.
    pub fn timeout(mut self, milliseconds: u64) -> Self {
        self.timeout = Some(milliseconds);
        self
    }

    /// Adds a field of the entry.
    pub fn field(mut self, name: &str, value: Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    /// The entry as it stands in a file.
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
