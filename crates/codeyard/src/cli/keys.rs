//! Arguments of `codeyard keys`.

use clap::{Args, Subcommand};

pub(super) const HELP: &str = "\
Examples:
  codeyard keys rotate
  codeyard keys rotate --data /srv/yard --json

Running gateways use the new key at once. The key before it stays in the file until the next
rotation. With $CODEYARD_DATA_KEY, write the new key first, restart all processes, then rotate.";

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a new key, and encrypt all recordings with it
    Rotate(RotateKeys),
}

#[derive(Debug, Args)]
pub struct RotateKeys {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
