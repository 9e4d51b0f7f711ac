//! Real servers over HTTP, each a process on its own port that can be restarted there.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{Duration, sleep, timeout};

use super::{REMEDY, installed, own_copy};

const START: Duration = Duration::from_secs(90);
const STEP: Duration = Duration::from_millis(20);

/// One real remote server; dropping it ends its process.
#[derive(Debug)]
pub struct RealRemote {
    definition: Value,
    port: u16,
    child: Child,
}

impl RealRemote {
    /// The servers that `cargo xtask test` installs.
    pub const NAMES: [&str; 3] = ["everything_http", "everything_sse", "excel_http"];

    /// Starts the server with its own data below `directory`, which must outlive it.
    pub async fn start(name: &str, directory: &Path) -> Result<RealRemote> {
        let file = installed().join("remote.json");
        let all = fs::read_to_string(&file)
            .with_context(|| format!("no remote servers in {}: {REMEDY}", file.display()))?;
        let all: Value = serde_json::from_str(&own_copy(&all, directory)?)?;
        let definition = all[name].clone();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let child = serve(&definition, port, &[], &[]).await?;
        Ok(RealRemote {
            definition,
            port,
            child,
        })
    }

    /// Its address.
    pub fn url(&self) -> String {
        let path = self.definition["path"].as_str().unwrap_or_default();
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Kills the server and restarts it on the same port, with these arguments and variables added.
    pub async fn restart(&mut self, args: &[&str], variables: &[(&str, &str)]) -> Result<()> {
        self.child.kill().await?;
        self.child = serve(&self.definition, self.port, args, variables).await?;
        Ok(())
    }
}

/// Waits until the process accepts connections.
async fn serve(definition: &Value, port: u16, args: &[&str], variables: &[(&str, &str)]) -> Result<Child> {
    let text = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        text.replace("{port}", &port.to_string())
    };
    let own = definition["args"].as_array().into_iter().flatten().map(text);
    let env = definition["env"].as_object().into_iter().flatten();
    let mut child = Command::new(text(&definition["command"]))
        .args(own)
        .args(args)
        .envs(env.map(|(name, value)| (name, text(value))))
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("starting {definition}: {REMEDY}"))?;
    let listening = async {
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
            if let Some(status) = child.try_wait()? {
                anyhow::bail!("{definition} ended with {status} before it listened at port {port}");
            }
            sleep(STEP).await;
        }
        Ok(())
    };
    let listening = timeout(START, listening).await;
    listening.with_context(|| format!("port {port} is still closed after {START:?}: {definition}"))??;
    Ok(child)
}
