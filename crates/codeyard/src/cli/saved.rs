//! Arguments of `codeyard saved`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use types::Principal;

pub(super) const HELP: &str = "\
Examples:
  codeyard saved                         what is kept
  codeyard saved show spread             the source of a tool, or the value of a memory
  codeyard saved remove spread
  codeyard saved import ~/MCPs           what the original one-tool bridge kept
  codeyard saved --state ~/bridge        of a bridge with MCP_BRIDGE_STATE_DIR=~/bridge";

const SHOW_HELP: &str = "\
Examples:
  codeyard saved show spread
  codeyard saved show project --memory --json";

const REMOVE_HELP: &str = "\
Examples:
  codeyard saved remove spread project
  codeyard saved remove --all --memory --yes";

const IMPORT_HELP: &str = "\
Takes over DIR/memory/*.json and the top-level functions of DIR/user_tools.py as text; no code is run. What is saved already stays unchanged.

Examples:
  codeyard saved import ~/MCPs
  codeyard saved import ~/MCPs --yes";

#[derive(Debug, Args)]
pub struct SavedArguments {
    /// What to do; without it everything is listed
    #[command(subcommand)]
    pub command: Option<SavedCommand>,
    /// Owner of the files; `local` is the user who runs codeyard
    #[arg(long, value_name = "PRINCIPAL", default_value = "local", global = true)]
    pub principal: Principal,
    /// Directory whose codeyard.db holds them, as MCP_BRIDGE_STATE_DIR names it [default: the data directory]
    #[arg(long, value_name = "DIR", global = true)]
    pub state: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done with what is saved.
#[derive(Debug, Subcommand)]
pub enum SavedCommand {
    /// Print the source of a tool or the value of a memory
    #[command(after_help = SHOW_HELP)]
    Show(ShowSaved),
    /// Remove tools and memories
    #[command(after_help = REMOVE_HELP)]
    Remove(RemoveSaved),
    /// Import the data of the original one-tool bridge
    #[command(after_help = IMPORT_HELP)]
    Import(ImportSaved),
}

#[derive(Debug, Clone, Copy, Args)]
pub struct OnlyKind {
    /// Only tools
    #[arg(long, conflicts_with = "memory")]
    pub tool: bool,
    /// Only memories
    #[arg(long)]
    pub memory: bool,
}

#[derive(Debug, Args)]
pub struct ShowSaved {
    /// Name of the tool or key of the memory
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub only: OnlyKind,
}

#[derive(Debug, Args)]
pub struct RemoveSaved {
    /// Names of tools or keys of memories
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub names: Vec<String>,
    /// Everything, or everything of the kind
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub only: OnlyKind,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct ImportSaved {
    /// Directory with `memory` and `user_tools.py`, such as ~/MCPs
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}
