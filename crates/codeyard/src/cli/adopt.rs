//! Arguments of `codeyard import` and `codeyard install`.

use std::path::PathBuf;

use clap::Args;

pub(super) const IMPORT_HELP: &str = "\
Clients: claude-desktop, claude-code, cursor, vscode, windsurf, gemini-cli, codex, zed, opencode, goose.

Examples:
  codeyard import                        which clients have servers here
  codeyard import cursor                 take them over: shows all, asks, connects once, counts tokens
  codeyard import cursor --dry-run       show all and change nothing
  codeyard import ./.vscode/mcp.json     a project's file";

pub(super) const INSTALL_HELP: &str = "\
Servers that codeyard has are disabled in the client, or removed from its file if the client cannot disable servers. A copy of the original file stays beside it. Run `codeyard import` first.

Examples:
  codeyard install                       the clients, and where codeyard is installed
  codeyard install cursor --dry-run      show the changes
  codeyard install cursor
  codeyard install cursor --url http://127.0.0.1:8700/mcp
                                         connect to `codeyard mcp --listen 8700`
  codeyard install cursor --url https://example.com/servers/lab/mcp --token-file token
                                         connect to a virtual server of `codeyard serve`
  codeyard install cursor --undo         the file as it was; only codeyard's part, if it changed since";

#[derive(Debug, Args)]
pub struct ImportArguments {
    /// The client, or a file; without it, lists this machine's clients
    #[arg(value_name = "CLIENT|PATH")]
    pub from: Option<String>,
    /// Show the import; start and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Skip servers that fail to connect; without this option, adds them as disabled
    #[arg(long)]
    pub leave_failed: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct InstallArguments {
    /// The client; without it, lists all supported clients
    #[arg(value_name = "CLIENT")]
    pub client: Option<String>,
    /// Have the client connect to this address of a `codeyard mcp --listen` or `codeyard serve`, instead of starting codeyard
    #[arg(long, value_name = "URL", conflicts_with = "undo")]
    pub url: Option<String>,
    /// File with the token for this address
    #[arg(long, value_name = "FILE", requires = "url")]
    pub token_file: Option<PathBuf>,
    /// Restore the client's original file, or remove codeyard's part if the file has changed since
    #[arg(long)]
    pub undo: bool,
    /// Show the changes without making them
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}
