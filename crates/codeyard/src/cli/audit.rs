//! Arguments of `codeyard audit`.

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use identity::AuditAction;
use store::audit::AuditExpectation;

use super::runs::parse_since;

pub(super) const HELP: &str = "\
Examples:
  codeyard audit list --since 7d
  codeyard audit list --user ana@example.com --action token.create
  codeyard audit list --csv > audit.csv
  codeyard audit verify
  codeyard audit verify --expect 42:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

`verify` exits with 6 if a row was changed, removed, inserted or reordered. Whoever may write the
database can write a new chain: note its head elsewhere, and give it to --expect later.";

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// List administrative changes and refused attempts at them, the newest first
    List(ListAudit),
    /// Check that no row was changed, removed, inserted or reordered
    Verify(VerifyAudit),
}

#[derive(Debug, Args)]
pub struct ListAudit {
    /// Only since this time: an age such as 2h or 7d, a day such as 2026-01-31, or a time such as
    /// 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub since: Option<DateTime<Utc>>,
    /// Only before this time, in the same forms
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub until: Option<DateTime<Utc>>,
    /// Only changes and attempts by this user, or by `command-line`
    #[arg(long, value_name = "EMAIL")]
    pub user: Option<String>,
    /// Only this action, such as token.create
    #[arg(long, value_name = "ACTION", value_parser = parse_action)]
    pub action: Option<AuditAction>,
    /// At most this many [default: 20; all with --json or --csv]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Print CSV; formulas get a leading '
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

#[derive(Debug, Args)]
pub struct VerifyAudit {
    /// A head printed by an earlier `verify`, to detect a chain cut off or rewritten since
    #[arg(long, value_name = "SEQUENCE:HASH")]
    pub expect: Option<AuditExpectation>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn parse_action(text: &str) -> Result<AuditAction, String> {
    text.parse()
        .map_err(|error: identity::UnknownWord| error.to_string())
}
