//! Arguments of `codeyard tools generate`.

use std::path::PathBuf;

use clap::Args;

pub(super) const HELP: &str = "\
A Python module for each tool of the servers, below servers/ of the directory: a function with types that calls the tool, in
programs of codeyard and in any other Python. A file that is there already and was not written by this command is left alone.

Examples:
  codeyard tools generate wrappers
  codeyard tools generate wrappers --server crm
  PYTHONPATH=wrappers python3 -c 'from servers.crm import get_customer; print(get_customer(customer_id=\"C-0042\"))'";

#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// Directory to write to; created if missing
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Only the tools of this server
    #[arg(long, value_name = "SERVER")]
    pub server: Option<String>,
}
