//! Arguments of `codeyard advise`.

use chrono::{DateTime, Utc};
use clap::Args;

use super::runs::parse_since;

pub(super) const HELP: &str = "\
A look-up is a run with one call that returns its answer nearly whole. For look-ups that are cheaper as direct calls, this shows what they save, what the tool's definition costs once a session, and the lines for codeyard.toml.

Examples:
  codeyard advise
  codeyard advise --since 30d --budget 1000
  codeyard advise --all                  what every definition costs
  codeyard advise --json";

#[derive(Debug, Args)]
pub struct AdviseArguments {
    /// Most tokens of the definitions of exposed tools together [default: `[expose] budget` of the settings]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// Only runs since this time: an age such as 7d, a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub since: Option<DateTime<Utc>>,
    /// Include tools that were never called, with their definitions' cost
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
