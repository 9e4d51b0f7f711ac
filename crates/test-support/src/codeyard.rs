//! Codeyard's binary with its own configuration and data directories.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::client::{Era, McpClient};
use crate::definition::ServerDefinition;
use crate::programs::{codeyard_binary, managed_data};

/// Longest run of a command.
const PATIENCE: Duration = Duration::from_secs(600);

/// An installation for one test. It neither reads nor writes the user's own files.
#[derive(Debug)]
pub struct Codeyard {
    directory: TempDir,
    servers: Map<String, Value>,
    settings: String,
    data: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
    limits: Vec<String>,
    wrapper: Vec<OsString>,
    program: PathBuf,
}

impl Codeyard {
    /// An installation without servers.
    pub fn new() -> Result<Codeyard> {
        let directory = tempfile::Builder::new().prefix("codeyard-test-").tempdir()?;
        for name in ["config/codeyard", "data", "home", "work"] {
            std::fs::create_dir_all(directory.path().join(name))?;
        }
        // Sessions with another kernel uid must traverse these directories.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(directory.path(), open)?;
        share_probes(&directory.path().join("data/codeyard"))?;
        Ok(Codeyard {
            directory,
            servers: Map::new(),
            settings: String::new(),
            data: None,
            variables: Vec::new(),
            limits: Vec::new(),
            wrapper: Vec::new(),
            program: codeyard_binary(),
        })
    }

    /// Uses another build of codeyard.
    pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
        self.program = path.into();
        self
    }

    /// An installation with the `stub` server of the acceptance cases.
    pub fn with_stub() -> Result<Codeyard> {
        Ok(Codeyard::new()?.server("stub", &ServerDefinition::stub()))
    }

    /// Adds a server.
    pub fn server(self, name: &str, definition: &ServerDefinition) -> Self {
        self.server_json(name, definition.to_json())
    }

    /// Adds an entry of `mcpServers` unchanged, valid or not.
    pub fn server_json(mut self, name: &str, entry: Value) -> Self {
        self.servers.insert(name.to_owned(), entry);
        self
    }

    /// Writes a file of server definitions to the home directory, where the surface `bridge` reads them.
    pub fn definition(self, file: &str, servers: &[(&str, ServerDefinition)]) -> Result<Self> {
        let entries: Map<String, Value> = servers
            .iter()
            .map(|(name, definition)| ((*name).to_owned(), definition.to_json()))
            .collect();
        self.home_file(
            &format!("MCPs/{file}"),
            &json!({"mcpServers": entries}).to_string(),
        )
    }

    /// Defines the acceptance cases' servers `stub` and `other`, each in a file of the home directory.
    pub fn with_stub_definitions(self) -> Result<Self> {
        self.definition("stub.json", &[("stub", ServerDefinition::stub())])?
            .definition("other.json", &[("other", ServerDefinition::stub())])
    }

    /// Writes a file below the home directory.
    pub fn home_file(self, path: &str, content: &str) -> Result<Self> {
        let path = self.home_directory().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
        std::fs::write(path, content)?;
        Ok(self)
    }

    /// Adds a replay of every server of the catalogue.
    pub fn catalogue(mut self) -> Self {
        for name in crate::catalogue::servers() {
            self = self.server(&name, &ServerDefinition::replay(&name));
        }
        self
    }

    /// Adds the nine real servers that `cargo xtask test` installs, with their own data; fails if
    /// they are not installed.
    pub fn real_servers(mut self) -> Result<Self> {
        self.servers
            .extend(crate::upstreams::real_servers(self.directory.path())?);
        Ok(self)
    }

    /// Adds earlier releases of four real servers, on the same data; they answer in JSON without an
    /// output schema.
    pub fn older_servers(mut self) -> Result<Self> {
        self.servers
            .extend(crate::upstreams::older_servers(self.directory.path())?);
        Ok(self)
    }

    /// Records the bytes between codeyard and the servers added so far, as `NAME.in` and `NAME.out` in
    /// [`Codeyard::traffic_directory`].
    pub fn record_traffic(mut self) -> Result<Self> {
        let directory = self.traffic_directory();
        std::fs::create_dir_all(&directory)?;
        for (name, entry) in &mut self.servers {
            let file = directory.join(name).display().to_string();
            let script = "tee -a \"$0.in\" | \"$@\" | tee -a \"$0.out\"";
            let own = [entry["command"].take()].into_iter();
            let own = own.chain(entry["args"].as_array().cloned().unwrap_or_default());
            let args = ["-c".into(), script.into(), file.into()].into_iter().chain(own);
            entry["args"] = args.collect();
            entry["command"] = "sh".into();
        }
        Ok(self)
    }

    /// The directory of [`Codeyard::record_traffic`].
    pub fn traffic_directory(&self) -> PathBuf {
        self.directory.path().join("traffic")
    }

    /// The data of the real servers.
    pub fn upstreams_data(&self) -> PathBuf {
        self.directory.path().join("upstreams")
    }

    /// Adds lines to `codeyard.toml`.
    pub fn settings(mut self, toml: &str) -> Self {
        self.settings.push_str(toml);
        self.settings.push('\n');
        self
    }

    /// Uses this data directory, for example one with a managed Python environment.
    pub fn data(mut self, directory: impl Into<PathBuf>) -> Self {
        self.data = Some(directory.into());
        self
    }

    /// Uses the managed environment that the test run prepared, in a data directory of its own.
    pub fn managed_environment(self) -> Result<Self> {
        if let Some(prepared) = managed_data() {
            let own = self.data_directory();
            std::fs::create_dir_all(&own)?;
            let python = own.join("python");
            if python.exists() {
                std::fs::remove_dir_all(&python)?;
            }
            std::os::unix::fs::symlink(prepared.join("python"), python)?;
        }
        Ok(self)
    }

    /// Sets a variable of codeyard's process.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Passes `--limit` to `codeyard mcp`.
    pub fn limit(mut self, limit: &str) -> Self {
        self.limits.push(limit.to_owned());
        self
    }

    /// Starts codeyard through a command that executes its further arguments. The command simulates a machine that
    /// lacks something.
    pub fn below<I>(mut self, wrapper: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        self.wrapper = wrapper.into_iter().map(|word| word.as_ref().to_owned()).collect();
        self
    }

    /// Starts codeyard in a mount namespace of its own, in which this shell script runs first. Needs root.
    pub fn below_mounts(self, script: &str) -> Self {
        let script = format!("set -e; {script}; exec \"$@\"");
        let unshare = ["unshare", "--mount", "--propagation", "private"];
        self.below(unshare.iter().copied().chain(["sh", "-c", &script, "sh"]))
    }

    /// Puts the data directory on a small, full disk that ends with the process. Needs root.
    pub fn on_full_disk(self) -> Result<Self> {
        let disk = self.directory().join("disk");
        std::fs::create_dir(&disk)?;
        let place = disk.display();
        let script = format!(
            "mount -t tmpfs -o size=1m disk {place}; mkdir {place}/data; head -c 2M /dev/zero > {place}/filler 2>&- || true"
        );
        Ok(self.data(disk.join("data")).below_mounts(&script))
    }

    /// The temporary directory of the installation.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Codeyard's current directory.
    pub fn work_directory(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// The home directory of codeyard's process.
    pub fn home_directory(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// The data directory.
    pub fn data_directory(&self) -> PathBuf {
        self.data
            .clone()
            .unwrap_or_else(|| self.directory.path().join("data/codeyard"))
    }

    /// Writes the configuration and prepares a command; `mcp.json` of the configuration directory
    /// lists the servers.
    pub fn command<I>(&self, args: I) -> Result<Command>
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        self.command_below(&[], args)
    }

    /// [`Codeyard::command`] through a wrapper that executes its further arguments.
    pub fn command_below<I>(&self, wrapper: &[&str], args: I) -> Result<Command>
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        let root = self.directory.path();
        let configuration = root.join("config/codeyard");
        let servers = json!({"mcpServers": self.servers});
        let servers = serde_json::to_vec_pretty(&servers)?;
        write_whole(&configuration.join("mcp.json"), &servers)?;
        if !self.settings.is_empty() {
            write_whole(&configuration.join("codeyard.toml"), self.settings.as_bytes())?;
        }
        let wrapper = wrapper.iter().map(OsString::from);
        let wrapper = wrapper.chain(self.wrapper.iter().cloned());
        let mut words = wrapper.chain([self.program.clone().into()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command
            .args(words)
            .args(args)
            .arg("--data")
            .arg(self.data_directory());
        command.current_dir(self.work_directory()).kill_on_drop(true);
        command.env("XDG_CONFIG_HOME", root.join("config"));
        command.env("XDG_DATA_HOME", root.join("data"));
        command.env("HOME", self.home_directory());
        command.env_remove("CODEYARD_LOG");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }

    /// Starts `codeyard mcp` and opens the conversation.
    pub async fn mcp(&self, era: Era) -> Result<McpClient> {
        let mut client = self.mcp_unopened()?;
        client.open(era).await?;
        Ok(client)
    }

    /// Starts `codeyard mcp`; the test sends the first message.
    pub fn mcp_unopened(&self) -> Result<McpClient> {
        let limits = self.limits.iter().flat_map(|limit| ["--limit", limit]);
        McpClient::spawn(self.command(["mcp"].into_iter().chain(limits))?)
    }

    /// Starts `codeyard mcp --surface bridge`; the test sends the first message.
    pub fn bridge_unopened(&self) -> Result<McpClient> {
        McpClient::spawn(self.command(["mcp", "--surface", "bridge"])?)
    }

    /// Starts `codeyard mcp --surface server`; the test sends the first message.
    pub fn server_unopened(&self) -> Result<McpClient> {
        let limits = self.limits.iter().flat_map(|limit| ["--limit", limit]);
        let command = ["mcp", "--surface", "server"];
        McpClient::spawn(self.command(command.into_iter().chain(limits))?)
    }

    /// Starts `codeyard mcp --surface standard`; the test sends the first message.
    pub fn standard_unopened(&self) -> Result<McpClient> {
        McpClient::spawn(self.command(["mcp", "--surface", "standard"])?)
    }

    /// Runs a command to its end.
    pub async fn run<I>(&self, args: I) -> Result<Output>
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        self.run_with_input(args, "").await
    }

    /// Runs a command to its end with this standard input.
    pub async fn run_with_input<I>(&self, args: I, input: &str) -> Result<Output>
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        let mut command = self.command(args)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("starting {command:?}"))?;
        let mut stdin = child.stdin.take().context("stdin is piped")?;
        let input = input.to_owned();
        // A program may close its input unread, so a failed write is not an error.
        let writer = tokio::spawn(async move { stdin.write_all(input.as_bytes()).await });
        let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await;
        writer.abort();
        Ok(output.with_context(|| format!("no end within {PATIENCE:?} of {command:?}"))??)
    }
}

/// Replaces a file atomically, because a codeyard of the same test may be reading it.
fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let new = path.with_extension(format!("new-{number}"));
    std::fs::write(&new, content)?;
    Ok(std::fs::rename(new, path)?)
}

/// Shares the answers and the bytecode of this machine's Pythons, so that only the first test computes them.
fn share_probes(data: &Path) -> Result<()> {
    const REMEMBERED: &str = "python/interpreters.json";
    const BYTECODE: &str = "python/bytecode";

    let Some(prepared) = managed_data() else {
        return Ok(());
    };
    std::fs::DirBuilder::new().mode(0o700).create(data)?;
    std::fs::create_dir(data.join("python"))?;
    // Without the file, each test asks the Pythons itself.
    let _ = std::fs::copy(prepared.join(REMEMBERED), data.join(REMEMBERED));
    if std::fs::create_dir_all(prepared.join(BYTECODE)).is_ok() {
        std::os::unix::fs::symlink(prepared.join(BYTECODE), data.join(BYTECODE))?;
    }
    Ok(())
}
