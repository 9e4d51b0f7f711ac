//! Arguments of `codeyard servers`, `codeyard config` and `codeyard ps`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub(super) const HELP: &str = "\
Examples:
  codeyard servers list                               every server, and what it does now
  codeyard servers show files                         what it starts, its tools, its last error
  codeyard servers add files -- npx -y @modelcontextprotocol/server-filesystem /home/me/notes
  codeyard servers add tickets --url https://mcp.example.com/mcp --header 'Authorization=Bearer ${TICKETS}'
  codeyard servers test files                         start it, list its tools
  codeyard servers logs files --follow                what it writes to standard error
  codeyard servers disable files";

const ADD_HELP: &str = "\
The server is checked before it is saved: the command must exist, the address must answer. Write a secret as ${VARIABLE}, so that it stays out of the file.

Examples:
  codeyard servers add time -- uvx mcp-server-time
  codeyard servers add files --cwd ~/notes -- npx -y @modelcontextprotocol/server-filesystem .
  codeyard servers add github --env 'GITHUB_TOKEN=${GITHUB_TOKEN}' -- github-mcp-server stdio
  codeyard servers add tickets --url https://mcp.example.com/mcp
  codeyard servers add tickets --url https://mcp.example.com/sse --type sse --no-check --yes";

const SHOW_HELP: &str = "\
Examples:
  codeyard servers show files
  codeyard servers show files --json";

const TEST_HELP: &str = "\
Example:
  codeyard servers test files || codeyard servers logs files";

const LOGS_HELP: &str = "\
Examples:
  codeyard servers logs files
  codeyard servers logs files --follow";

pub(super) const CONFIG_HELP: &str = "\
Examples:
  codeyard config check                  every mistake of every file, exit code 2 if there is one
  codeyard config show                   what counts, and where each value comes from
  codeyard config path                   which files are read";

pub(super) const PS_HELP: &str = "\
Examples:
  codeyard ps
  codeyard ps --json";

#[derive(Debug, Args)]
pub struct ServersArguments {
    /// What to do; without it every server is listed
    #[command(subcommand)]
    pub command: Option<ServersCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done with servers.
#[derive(Debug, Subcommand)]
pub enum ServersCommand {
    /// List every server and its state
    List,
    /// Show one server: its command, tools and state
    #[command(after_help = SHOW_HELP)]
    Show(NamedServer),
    /// Add a server to the configuration
    #[command(after_help = ADD_HELP)]
    Add(AddServer),
    /// Remove a server from the configuration
    Remove(ChangeServer),
    /// Use a server again, or agree to its changed command
    Enable(ChangeServer),
    /// Disable a server without removing it
    Disable(NamedServer),
    /// Start a server and list its tools
    #[command(after_help = TEST_HELP)]
    Test(ChangeServer),
    /// Show what a server writes to standard error
    #[command(after_help = LOGS_HELP)]
    Logs(ServerLogs),
}

#[derive(Debug, Args)]
pub struct AddServer {
    /// Its name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Variable of its process; may be given more than once
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "url")]
    pub env: Vec<(String, String)>,
    /// Where it runs
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub cwd: Option<PathBuf>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Address of a server that runs elsewhere
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Header of each request to it; may be given more than once
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair, requires = "url", conflicts_with = "command")]
    pub header: Vec<(String, String)>,
    /// Transport: Streamable HTTP, or HTTP with server-sent events of 2024 [default: what it answers to]
    #[arg(long = "type", value_enum, requires = "url", conflicts_with = "command")]
    pub kind: Option<RemoteKind>,
    /// Save it without checking the command or the address
    #[arg(long)]
    pub no_check: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// The command that starts it, word by word
    #[arg(
        value_name = "COMMAND",
        last = true,
        required_unless_present = "url",
        conflicts_with = "url"
    )]
    pub command: Vec<String>,
}

/// How a server that runs elsewhere speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RemoteKind {
    /// Streamable HTTP
    Http,
    /// HTTP with server-sent events, as of 2024
    Sse,
}

#[derive(Debug, Args)]
pub struct ChangeServer {
    /// The server
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct NamedServer {
    /// The server
    #[arg(value_name = "NAME")]
    pub name: String,
}

#[derive(Debug, Args)]
pub struct ServerLogs {
    /// The server
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Continue with new output
    #[arg(long)]
    pub follow: bool,
}

/// What can be asked about the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Look for mistakes in every file
    Check(ConfigArguments),
    /// Show the values in effect and their sources, without secrets
    Show(ConfigArguments),
    /// Show the paths of configuration and data
    Path(ConfigArguments),
}

#[derive(Debug, Args)]
pub struct ConfigArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct PsArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
