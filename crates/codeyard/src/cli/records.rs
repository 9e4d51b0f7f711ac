//! Arguments of `codeyard records`.

use clap::{Args, Subcommand};
use store::Database;

pub const HELP: &str = "\
Examples:
  codeyard records move --from sqlite:$HOME/.local/share/codeyard/codeyard.db --to postgres://yard@db.example.com/yard
  codeyard records move --from postgres://yard@db.example.com/yard --to sqlite:/tmp/yard.db --json";

/// What to do with all records.
#[derive(Debug, Subcommand)]
pub enum RecordsCommand {
    /// Copy all records, saved values and learned types from one database to another, empty one
    Move(MoveRecords),
}

/// `codeyard records move`.
#[derive(Debug, Args)]
pub struct MoveRecords {
    /// Database to copy from, as sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE; it stays unchanged
    #[arg(long, value_name = "URL", value_parser = parse)]
    pub from: Database,
    /// Database to copy to, in the same forms
    #[arg(long, value_name = "URL", value_parser = parse)]
    pub to: Database,
    /// Print the tables as JSON
    #[arg(long)]
    pub json: bool,
}

fn parse(text: &str) -> Result<Database, String> {
    text.parse().map_err(|error| format!("{error}"))
}
