//! `codeyard serve` as a process, and HTTP connections to it.

mod connection;
mod request;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::Codeyard;

pub use connection::HttpConnection;
pub use request::{HttpAnswer, HttpRequest};

/// Longest time until a gateway logs its address.
const PATIENCE: Duration = Duration::from_secs(60);

/// A gateway process; dropping the value kills the process.
#[derive(Debug)]
pub struct GatewayProcess {
    address: String,
    child: Child,
}

// === impl GatewayProcess ===

impl GatewayProcess {
    /// Starts a gateway on a free port.
    ///
    /// # Errors
    /// If the process ends before it serves; the error holds its log.
    pub fn start(codeyard: &Codeyard) -> Result<GatewayProcess> {
        GatewayProcess::start_with(codeyard, &["--listen", "127.0.0.1:0"])
    }

    /// Starts a gateway with `--advertise`. Gateways with the same database and data directory forward requests to
    /// each other.
    ///
    /// # Errors
    /// As [`GatewayProcess::start`].
    pub fn start_advertised(codeyard: &Codeyard) -> Result<GatewayProcess> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        drop(listener);
        let advertised = format!("http://{address}");
        GatewayProcess::start_with(codeyard, &["--listen", &address, "--advertise", &advertised])
    }

    fn start_with(codeyard: &Codeyard, options: &[&str]) -> Result<GatewayProcess> {
        let mut command = codeyard.command(["serve"].iter().chain(options))?.into_std();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let lines = BufReader::new(child.stderr.take().context("stderr is piped")?).lines();
        let (found, addresses) = mpsc::sync_channel(64);
        std::thread::spawn(move || {
            for line in lines.map_while(std::io::Result::ok) {
                // Reads the log to its end, so that the gateway never waits for a reader.
                let _ = found.try_send(line);
            }
        });
        let mut output = Vec::new();
        while let Ok(line) = addresses.recv_timeout(PATIENCE) {
            if let Some(address) = serving_at(&line) {
                return Ok(GatewayProcess { address, child });
            }
            output.push(line);
        }
        let _ = child.kill();
        let status = child.wait()?;
        anyhow::bail!("the gateway did not serve ({status}): {}", output.join("\n"))
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The process number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process with SIGKILL.
    ///
    /// # Errors
    /// If the process cannot be waited for.
    pub fn kill(&mut self) -> Result<ExitStatus> {
        self.child.kill()?;
        Ok(self.child.wait()?)
    }

    /// Stops the process with SIGTERM.
    ///
    /// # Errors
    /// If the process does not exit with success.
    pub fn finish(mut self) -> Result<()> {
        let status = Command::new("kill").arg(self.pid().to_string()).status()?;
        ensure!(status.success(), "kill: {status}");
        let status = self.child.wait()?;
        ensure!(status.success(), "the gateway ended with {status}");
        Ok(())
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A token of a user from `codeyard token create`, which creates the user on first use.
///
/// # Errors
/// If the command fails.
pub async fn create_token(codeyard: &Codeyard, email: &str, role: &str, teams: &[&str]) -> Result<String> {
    let mut words = vec!["token", "create", "--user", email, "--role", role];
    words.extend(teams.iter().flat_map(|team| ["--team", *team]));
    let made = codeyard.run(words).await?;
    let complaint = String::from_utf8_lossy(&made.stderr).into_owned();
    ensure!(made.status.success(), "`codeyard token create`: {complaint}");
    Ok(String::from_utf8(made.stdout)?.trim().to_owned())
}

/// An installation on a shared database and data directory.
///
/// # Errors
/// If the directories cannot be created.
pub fn sharing(url: &str, data: &Path) -> Result<Codeyard> {
    Ok(Codeyard::with_stub()?
        .env("CODE_EXECUTION_ENABLED", "true")
        .env("CODEYARD_DATABASE_URL", url)
        .data(data))
}

/// The body of a virtual server for Python, with a limit of 1,000 runs per minute.
pub fn python_server(name: &str) -> Value {
    serde_json::json!({
        "name": name,
        "type": "code_execution",
        "sandbox_policy": {"runtime": "python", "max_runs_per_minute": 1000},
    })
}

fn serving_at(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("serving at http")?;
    let (address, _) = rest.split_once("://")?.1.split_once(';')?;
    Some(address.to_owned())
}
