//! Servers from the command line: `servers`, `config`, `ps`, and reloads of the configuration while codeyard serves.

mod bad_input;
mod consent;
mod crowd;
mod definitions;
mod named;
mod running;

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Codeyard, CommandOutput, Era, McpClient, stub_server};

/// Longest run of a command.
const PATIENCE: Duration = Duration::from_secs(120);

/// An installation whose definitions are in a file that the commands change.
pub(crate) struct Yard {
    pub(crate) codeyard: Codeyard,
}

impl Yard {
    pub(crate) fn new() -> Yard {
        Yard {
            codeyard: Codeyard::new().unwrap(),
        }
    }

    /// An installation whose file holds these servers.
    pub(crate) fn with(servers: &Value) -> Yard {
        let yard = Yard::new();
        yard.write(servers);
        yard
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.codeyard.work_directory().join("servers.json")
    }

    /// Replaces the servers of the file.
    pub(crate) fn write(&self, servers: &Value) {
        self.write_text(&json!({ "mcpServers": servers }).to_string());
    }

    /// Replaces the file atomically, like an editor.
    pub(crate) fn write_text(&self, text: &str) {
        let new = self.file().with_extension("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.file()).unwrap();
    }

    pub(crate) fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    /// Runs a command with this file.
    pub(crate) async fn run(&self, args: &[&str]) -> CommandOutput {
        // `--` and its words must come last.
        let mut command = self
            .codeyard
            .command(["--config".as_ref(), self.file().as_os_str()])
            .unwrap();
        let output = command.args(args).stdin(Stdio::null()).output();
        let output = tokio::time::timeout(PATIENCE, output).await.unwrap().unwrap();
        CommandOutput {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap_or(-1),
        }
    }

    /// Runs a command that must succeed.
    #[track_caller]
    pub(crate) fn done<'a>(&'a self, args: &'a [&str]) -> impl Future<Output = CommandOutput> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let ended = self.run(args).await;
            assert_eq!(ended.code, 0, "{caller}: {args:?}: {ended:?}");
            ended
        }
    }

    /// Starts `codeyard mcp` with this file and opens the conversation.
    pub(crate) async fn serve(&self, more: &[&str]) -> McpClient {
        let file = self.file();
        let args = ["mcp", "--config", file.to_str().unwrap()];
        let command = self.codeyard.command(args.iter().chain(more)).unwrap();
        let mut client = McpClient::spawn(command).unwrap();
        client.open(Era::Legacy).await.unwrap();
        client
    }

    /// The output of `codeyard ps --json`.
    pub(crate) async fn ps(&self) -> Vec<Value> {
        self.done(&["ps", "--json"])
            .await
            .json()
            .as_array()
            .unwrap()
            .clone()
    }

    /// The sockets of the codeyards that serve with this data directory.
    pub(crate) fn sockets(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.codeyard.data_directory().join("run/control"));
        let paths = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
        // A socket under construction has another name.
        let mut all: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|kind| kind == "sock"))
            .collect();
        all.sort();
        all
    }

    /// A server's entry in `codeyard servers --json`.
    pub(crate) async fn server(&self, name: &str) -> Value {
        let listed = self.done(&["servers", "--json"]).await.json();
        let servers = listed["servers"].as_array().unwrap();
        let found = servers.iter().find(|server| server["name"] == name);
        found
            .cloned()
            .unwrap_or_else(|| panic!("no `{name}` in {listed}"))
    }
}

/// The definition of the stub.
pub(crate) fn stub() -> Value {
    json!({"command": stub_server(), "args": ["stub"]})
}

/// The words of the stub's command.
pub(crate) fn stub_words() -> [String; 2] {
    [stub_server().to_string_lossy().into_owned(), "stub".to_owned()]
}
