//! `import` and `install`: imports the servers of other MCP clients, and replaces them by codeyard.

mod each;
mod faults;
mod files;
mod foreign;
mod hidden;
mod importing;
mod journey;
mod others;
mod over_http;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Codeyard, CommandOutput, codeyard_binary};
use tokio::process::Command;

/// Longest run of a command.
const PATIENCE: Duration = Duration::from_secs(120);

/// Cursor's file in a home directory.
pub(crate) const CURSOR: &str = ".cursor/mcp.json";

/// Codeyard's own file.
pub(crate) const OURS: &str = ".config/codeyard/mcp.json";

/// An entry that starts one of the demonstration's servers.
pub(crate) fn demo(server: &str) -> Value {
    json!({"command": codeyard_binary(), "args": ["demo-server", server]})
}

/// The entry of `crm` with one field more.
pub(crate) fn demo_with(field: &str, value: Value) -> Value {
    let mut entry = demo("crm");
    entry[field] = value;
    entry
}

/// A home directory with a client's files.
pub(crate) struct Home {
    codeyard: Codeyard,
}

impl Home {
    pub(crate) fn new() -> Home {
        Home {
            codeyard: Codeyard::new().unwrap(),
        }
    }

    /// A home directory with this file of a client.
    pub(crate) fn with(path: &str, text: &str) -> Home {
        let home = Home::new();
        home.write(path, text.as_bytes());
        home
    }

    /// A home directory in which Cursor has these servers.
    pub(crate) fn of_cursor(servers: Value) -> Home {
        Home::with(CURSOR, &json!({ "mcpServers": servers }).to_string())
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.codeyard.home_directory()
    }

    /// A path below the home directory.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory().join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.path(path)).unwrap()).unwrap()
    }

    /// Names of the files in a directory below the home directory.
    pub(crate) fn list(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(path)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    /// Our own file of servers.
    pub(crate) fn ours(&self) -> Value {
        serde_json::from_str(&self.read(OURS)).unwrap()
    }

    /// The data directory of the commands.
    pub(crate) fn data(&self) -> PathBuf {
        self.codeyard.data_directory()
    }

    pub(crate) fn secrets(&self) -> PathBuf {
        self.data().join("secrets.json")
    }

    /// A command with this home directory, without variables that name other directories.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_below(&[], args)
    }

    /// The command below a wrapper, which executes its further arguments.
    pub(crate) fn command_below(&self, wrapper: &[&str], args: &[&str]) -> Command {
        let mut command = self.codeyard.command_below(wrapper, args).unwrap();
        for name in [
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "CRM_TOKEN",
            "ORDERS_TOKEN",
            "TICKETS",
            "TICKETS_TOKEN",
        ] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null());
        command
    }

    pub(crate) async fn run(&self, args: &[&str]) -> CommandOutput {
        ended(self.command(args)).await
    }

    /// Runs a command that must succeed.
    #[track_caller]
    pub(crate) fn done<'a>(&'a self, args: &'a [&'a str]) -> impl Future<Output = CommandOutput> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let ended = self.run(args).await;
            assert_eq!(ended.code, 0, "{caller}: {args:?}: {ended:?}");
            ended
        }
    }

    /// Runs a command that must fail with these words.
    #[track_caller]
    pub(crate) fn refused<'a>(
        &'a self,
        args: &'a [&'a str],
        told: &'a [&'a str],
    ) -> impl Future<Output = ()> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let ended = self.run(args).await;
            assert_eq!(ended.code, 2, "{caller}: {args:?}: {ended:?}");
            for words in told {
                assert!(ended.err.contains(words), "{caller}: {words}: {}", ended.err);
            }
        }
    }
}

pub(crate) async fn ended(mut command: Command) -> CommandOutput {
    let output = tokio::time::timeout(PATIENCE, command.output())
        .await
        .unwrap()
        .unwrap();
    CommandOutput {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    }
}

/// A fixture with the demonstration's servers.
pub(crate) fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../clients/fixtures")
        .join(name);
    let binary = codeyard_binary();
    std::fs::read_to_string(path)
        .unwrap()
        .replace("CODEYARD", binary.to_str().unwrap())
}
