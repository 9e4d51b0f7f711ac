//! Arguments of `codeyard tools learned` and `codeyard tools forget`.

use clap::Args;

pub(super) const LEARNED_HELP: &str = "\
Codeyard keeps types and names of keys, never values.

Examples:
  codeyard tools learned                 every tool of which something is known
  codeyard tools learned crm             those of one server
  codeyard tools learned crm.find        the shape of its results, as a JSON Schema
  codeyard tools learned --drift         results that were not as they were before, or as the tool declares them";

pub(super) const FORGET_HELP: &str = "\
Running processes forget it when they next search for a tool or check a program.

Examples:
  codeyard tools forget crm.find
  codeyard tools forget crm --yes
  codeyard tools forget --all --yes";

#[derive(Debug, Args)]
pub struct LearnedArguments {
    /// Only this server or tool
    #[arg(value_name = "SERVER[.TOOL]")]
    pub name: Option<String>,
    /// Show results that differed from earlier ones, the newest first
    #[arg(long)]
    pub drift: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ForgetArguments {
    /// The server or tool
    #[arg(
        value_name = "SERVER[.TOOL]",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub name: Option<String>,
    /// Everything
    #[arg(long)]
    pub all: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}
