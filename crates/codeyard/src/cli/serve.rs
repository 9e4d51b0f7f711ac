//! Arguments of `codeyard serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::values::parse_listen;

pub(super) const HELP: &str = "\
Examples:
  codeyard serve                                       at http://127.0.0.1:4444
  codeyard serve --config servers.json --data /srv/codeyard --listen 0.0.0.0:4444 --tls-cert yard.crt --tls-key yard.key
  codeyard serve --database postgres://me@db/codeyard  with the password in ~/.pgpass";

#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Address to listen on; a port alone means 127.0.0.1, port 0 any free port
    #[arg(long, value_name = "ADDR", value_parser = parse_listen, default_value = "127.0.0.1:4444")]
    pub listen: SocketAddr,
    /// File with a certificate chain in PEM: clients connect to https://ADDR [default: `[http] tls_cert` of the settings]
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// File with the certificate's key in PEM, which only you may read
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Address at which other processes on the same Postgres database reach this one, such as https://one.example.com:4444; they
    /// then share sessions
    #[arg(long, value_name = "URL")]
    pub advertise: Option<String>,
    /// Address at which users' browsers reach this gateway, for links to logins; without it, the address of --listen
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// Directory of yours that programs see, read-only unless :rw is added; may be given more than once
    #[arg(long, value_name = "DIR:/target[:rw]")]
    pub mount: Vec<String>,
    /// Limit of all programs, at most that of the settings; may be given more than once
    #[arg(long, value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
}
