//! Arguments of `codeyard logins`.

use clap::{Args, Subcommand};

pub(super) const HELP: &str = "\
Examples:
  codeyard logins list
  codeyard logins list --user ana@example.com --json
  codeyard logins revoke crm --user ana@example.com

A user without a login gets a link with the next call. Connections of a revoked login end within
5 seconds.";

#[derive(Debug, Subcommand)]
pub enum LoginsCommand {
    /// List logins, without their secrets
    List(ListLogins),
    /// Revoke a login, there and here
    Revoke(RevokeLogin),
}

#[derive(Debug, Args)]
pub struct ListLogins {
    /// Only those of this user
    #[arg(long, value_name = "EMAIL")]
    pub user: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RevokeLogin {
    /// The upstream server
    #[arg(value_name = "SERVER")]
    pub server: String,
    /// Whose login
    #[arg(long, value_name = "EMAIL")]
    pub user: String,
}
