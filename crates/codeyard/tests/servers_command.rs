//! Servers from the command line: `servers`, `config`, `ps`, and the configuration read again while codeyard serves.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "servers_command/definitions.rs"]
mod definitions;
#[path = "servers_command/running.rs"]
mod running;

use std::path::PathBuf;

use serde_json::{Value, json};
use test_support::{Codeyard, Ended, Era, McpClient, run, stub_server};

/// An installation whose servers are in a file that the commands under test change.
pub struct Yard {
    pub codeyard: Codeyard,
}

impl Yard {
    pub fn new() -> Yard {
        Yard {
            codeyard: Codeyard::new().unwrap(),
        }
    }

    /// One whose file holds these servers.
    pub fn with(servers: &Value) -> Yard {
        let yard = Yard::new();
        yard.write(servers);
        yard
    }

    pub fn file(&self) -> PathBuf {
        self.codeyard.work_directory().join("servers.json")
    }

    /// Replaces the servers of the file.
    pub fn write(&self, servers: &Value) {
        self.write_text(&json!({ "mcpServers": servers }).to_string());
    }

    /// Replaces the file as one step, as an editor does.
    pub fn write_text(&self, text: &str) {
        let new = self.file().with_extension("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.file()).unwrap();
    }

    pub fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    /// Runs a command with this file.
    pub async fn run(&self, args: &[&str]) -> Ended {
        let file = self.file().to_string_lossy().into_owned();
        let first = ["--config", file.as_str()];
        let all: Vec<&str> = first.iter().chain(args).copied().collect();
        run(&self.codeyard, &all, "").await
    }

    /// A command that does what it was asked to.
    #[track_caller]
    pub fn done<'a>(&'a self, args: &'a [&str]) -> impl Future<Output = Ended> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let ended = self.run(args).await;
            assert_eq!(ended.code, 0, "{caller}: {args:?}: {ended:?}");
            ended
        }
    }

    /// Starts `codeyard mcp` with this file and opens the conversation.
    pub async fn serve(&self, more: &[&str]) -> McpClient {
        let file = self.file();
        let args = ["mcp", "--config", file.to_str().unwrap()];
        let command = self.codeyard.command(args.iter().chain(more)).unwrap();
        let mut client = McpClient::spawn(command).unwrap();
        client.open(Era::Legacy).await.unwrap();
        client
    }

    /// What `codeyard ps --json` says.
    pub async fn ps(&self) -> Vec<Value> {
        self.done(&["ps", "--json"])
            .await
            .json()
            .as_array()
            .unwrap()
            .clone()
    }

    /// What `codeyard servers --json` says of one server.
    pub async fn server(&self, name: &str) -> Value {
        let listed = self.done(&["servers", "--json"]).await.json();
        let servers = listed["servers"].as_array().unwrap();
        let found = servers.iter().find(|server| server["name"] == name);
        found
            .cloned()
            .unwrap_or_else(|| panic!("no `{name}` in {listed}"))
    }
}

/// The definition of the stub.
pub fn stub() -> Value {
    json!({"command": stub_server(), "args": ["stub"]})
}

/// The words of the stub's command.
pub fn stub_words() -> [String; 2] {
    [stub_server().to_string_lossy().into_owned(), "stub".to_owned()]
}
