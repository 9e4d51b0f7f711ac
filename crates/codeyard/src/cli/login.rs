//! Arguments of `codeyard login` and `codeyard logout`.

use std::time::Duration;

use clap::Args;

use super::values::parse_duration;

pub(super) const HELP: &str = "\
The login opens in a browser. With --paste, open the address on any machine and paste the address to which the browser was sent.

Examples:
  codeyard login tickets
  codeyard login tickets --scope tickets:write    to be allowed more than now
  codeyard login tickets --paste                  on a machine without a browser";

pub(super) const LOGOUT_HELP: &str = "\
Example:
  codeyard logout tickets";

#[derive(Debug, Args)]
pub struct LoginArguments {
    /// The server
    #[arg(value_name = "SERVER")]
    pub name: String,
    /// Additional permission of the login; may be given more than once [default: the server's request]
    #[arg(long, value_name = "SCOPE", value_parser = scopes)]
    pub scope: Vec<Words>,
    /// Only print the address
    #[arg(long)]
    pub no_browser: bool,
    /// Read the browser's final address from standard input
    #[arg(long)]
    pub paste: bool,
    /// Local port of the browser's redirect, if the client is registered with one [default: any]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Longest wait for the person
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "5m")]
    pub wait: Duration,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Words separated by blanks.
#[derive(Debug, Clone)]
pub struct Words(pub Vec<String>);

#[derive(Debug, Args)]
pub struct LogoutArguments {
    /// The server
    #[arg(value_name = "SERVER")]
    pub name: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn scopes(text: &str) -> Result<Words, String> {
    let is_plain = |c: char| matches!(c, '!'..='~') && c != '"' && c != '\\';
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() || !words.iter().all(|word| word.chars().all(is_plain)) {
        return Err("a scope is a word of plain characters".to_owned());
    }
    Ok(Words(words))
}
