//! The rivals of `codeyard serve`: ContextForge, and the crate `mcp-proxy`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use test_support::gateway::{HttpConnection, HttpRequest};

use super::contender::{GatewayRival, free_address};
use super::load::LoadTarget;
use super::upstream::UpstreamProcess;
use crate::rivals::contender::RivalDirectory;

pub const CONTEXT_FORGE: &str = "ContextForge";
pub const PROXY: &str = "mcp-proxy (crate)";

/// The id of ContextForge's virtual server.
const SERVER: &str = "0123456789abcdef0123456789abcdef";
const ADMIN: &str = "admin@example.com";
/// Secrets of an installation that lives as long as the measurement. Its start refuses weak ones.
const SECRETS: [(&str, &str); 4] = [
    (
        "JWT_SECRET_KEY",
        "0f3c9b8e7a6d5c4b3a29181706f5e4d3c2b1a0998877665544332211ffeeddcc",
    ),
    (
        "AUTH_ENCRYPTION_SECRET",
        "8e1f2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aabbccddeeff0",
    ),
    ("PLATFORM_ADMIN_PASSWORD", "Xq7-bench-Zr92-Long"),
    ("BASIC_AUTH_PASSWORD", "Xq7-bench-Zr92-Lang"),
];
/// Settings of production: no plugins, no admin UI; no limits of requests, which a measurement would meet at once.
const PRODUCTION: [(&str, &str); 8] = [
    ("ENVIRONMENT", "production"),
    ("LOG_LEVEL", "ERROR"),
    ("PLUGINS_ENABLED", "false"),
    ("MCPGATEWAY_UI_ENABLED", "false"),
    ("RATE_LIMITING_ENABLED", "false"),
    ("SSRF_ALLOW_LOCALHOST", "true"),
    ("SSRF_ALLOW_PRIVATE_NETWORKS", "true"),
    ("PASSWORD_CHANGE_ENFORCEMENT_ENABLED", "false"),
];

/// ContextForge with one worker for each processor, SQLite, and its tokens.
pub async fn context_forge(
    rivals: &RivalDirectory,
    servers: &UpstreamProcess,
    upstreams: usize,
) -> Result<GatewayRival> {
    let program = rivals.installed("contextforge", "bin/gunicorn")?;
    let python = rivals.installed("contextforge", "bin/python")?;
    let directory = tempfile::tempdir()?;
    let home = directory.path().to_owned();
    let address = free_address()?;
    let token = context_forge_token(&python, &home)?;
    let workers = std::thread::available_parallelism()?.to_string();
    let bind = address.clone();
    let start_home = home.clone();
    let start = move || {
        let mut command = in_context(&program, &start_home);
        command
            .args(["--worker-class", "uvicorn.workers.UvicornWorker", "--preload"])
            .args(["--timeout", "600", "--workers", &workers, "--bind", &bind])
            .arg("mcpgateway.main:app");
        Ok(command)
    };
    let log = home.join("serve.log");
    let mut rival = GatewayRival::new(CONTEXT_FORGE, upstreams, start, log, directory);
    rival.targets = vec![LoadTarget {
        address: address.clone(),
        path: format!("/servers/{SERVER}/mcp/"),
        token: Some(token.clone()),
    }];
    rival.spawn()?;
    let health = HttpRequest::new("GET /health", &token, &Value::Null);
    rival
        .wait_for(async || HttpConnection::to(&address).ask(&health).await.is_ok())
        .await?;
    register(&address, &token, servers, upstreams).await?;
    rival.stop();
    Ok(rival)
}

fn in_context(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    let database = format!("sqlite:///{}", home.join("mcp.db").display());
    command
        .envs(SECRETS)
        .envs(PRODUCTION)
        .env("DATABASE_URL", database)
        .current_dir(home);
    command
}

fn context_forge_token(python: &Path, home: &Path) -> Result<String> {
    let mut command = in_context(python, home);
    command.args(["-m", "mcpgateway.utils.create_jwt_token", "--exp", "10080"]);
    let made = command.args(["--username", ADMIN]).output()?;
    let text = String::from_utf8(made.stdout)?;
    let token = text.lines().find(|line| line.starts_with("ey"));
    let complaint = || String::from_utf8_lossy(&made.stderr).into_owned();
    Ok(token.with_context(complaint)?.to_owned())
}

/// Registers the upstream servers, and a virtual server with all their tools.
async fn register(address: &str, token: &str, servers: &UpstreamProcess, upstreams: usize) -> Result<()> {
    let mut connection = HttpConnection::to(address);
    let mut ask = async |line: &str, body: &Value| {
        let answer = connection.ask(&HttpRequest::new(line, token, body)).await?;
        ensure!(answer.status < 300, "{line}: {} {}", answer.status, answer.body);
        answer.json()
    };
    for number in 0..upstreams {
        let name = format!("u{number}");
        let body = json!({"name": name, "url": servers.url(number), "transport": "STREAMABLEHTTP"});
        ask("POST /v1/gateways", &body).await?;
    }
    let tools = ask("GET /v1/tools?limit=0", &Value::Null).await?;
    let tools = tools.as_array().context("a list of tools")?;
    let ids: Vec<&Value> = tools.iter().map(|tool| &tool["id"]).collect();
    ensure!(
        ids.len() == upstreams,
        "{} tools of {upstreams} servers",
        ids.len()
    );
    let server = json!({"server": {"id": SERVER, "name": "bench", "associated_tools": ids}});
    ask("POST /v1/servers", &server).await?;
    Ok(())
}

/// The crate `mcp-proxy`, which has no authentication by default.
pub fn proxy(rivals: &RivalDirectory, servers: &UpstreamProcess, upstreams: usize) -> Result<GatewayRival> {
    let program = rivals.installed("mcp-proxy", "bin/mcp-proxy")?;
    let directory = tempfile::tempdir()?;
    let address = free_address()?;
    let (host, port) = address.split_once(':').context("host and port")?;
    let mut config =
        format!("[proxy]\nname = \"bench\"\n\n[proxy.listen]\nhost = \"{host}\"\nport = {port}\n");
    for number in 0..upstreams {
        let url = servers.url(number);
        config.push_str(&format!(
            "\n[[backends]]\nname = \"u{number}\"\ntransport = \"http\"\nurl = \"{url}\"\n"
        ));
    }
    let file = directory.path().join("proxy.toml");
    std::fs::write(&file, config)?;
    let start = move || {
        let mut command = Command::new(&program);
        command.arg("--config").arg(&file).env("RUST_LOG", "error");
        Ok(command)
    };
    let log = directory.path().join("serve.log");
    let mut rival = GatewayRival::new(PROXY, upstreams, start, log, directory);
    rival.targets = vec![LoadTarget {
        address,
        path: "/".to_owned(),
        token: None,
    }];
    Ok(rival)
}
