//! Arguments of `codeyard top`.

use clap::Args;

pub(super) const HELP: &str = "\
On the page, q quits. It shows every codeyard that serves a client with this data directory.

Examples:
  codeyard top
  codeyard top --once
  codeyard top --json";

#[derive(Debug, Args)]
pub struct TopArguments {
    /// Print one page of text; the default where standard output is not a terminal
    #[arg(long)]
    pub once: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
