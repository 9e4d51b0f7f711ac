//! `codeyard serve` with authentication, policy and records, in one process on a SQLite file.

use std::rc::Rc;

use anyhow::{Result, ensure};
use serde_json::Value;
use test_support::Codeyard;
use test_support::gateway::{HttpConnection, HttpRequest, create_token};

use super::contender::{GatewayRival, free_address};
use super::load::LoadTarget;
use super::upstream::UpstreamProcess;
use crate::setting::Setting;

/// The id of the virtual server.
pub const SERVER: &str = "bench";

/// What to serve, and to whom.
pub struct Served<'a> {
    pub name: &'a str,
    pub upstreams: usize,
    /// Lines of `codeyard.toml`.
    pub settings: &'a str,
    /// The virtual server.
    pub body: Value,
    pub users: usize,
}

/// A gateway with its virtual server; the first token is an admin's.
pub async fn alone(
    setting: &Setting,
    servers: &UpstreamProcess,
    served: Served<'_>,
) -> Result<(GatewayRival, Vec<String>)> {
    let codeyard = with_upstreams(setting.codeyard()?, servers, served.upstreams);
    let codeyard = Rc::new(codeyard.settings(served.settings));
    let address = free_address()?;
    let log = codeyard.directory().join("serve.log");
    let tokens = tokens(&codeyard, served.users).await?;
    let (kept, listen) = (Rc::clone(&codeyard), address.clone());
    let start = move || Ok(codeyard.command(["serve", "--listen", &listen])?.into_std());
    let mut rival = GatewayRival::new(served.name, served.upstreams, start, log, kept);
    rival.targets = targets(&address, &tokens);
    rival.spawn()?;
    rival
        .wait_for(async || make(&address, &tokens[0], &served.body).await.is_ok())
        .await?;
    rival.stop();
    Ok((rival, tokens))
}

/// The definitions of the upstream servers.
pub fn with_upstreams(codeyard: Codeyard, servers: &UpstreamProcess, upstreams: usize) -> Codeyard {
    (0..upstreams).fold(codeyard, |codeyard, number| {
        let definition = serde_json::json!({"url": servers.url(number)});
        codeyard.server_json(&format!("u{number}"), definition)
    })
}

/// Tokens of an admin and of users.
pub async fn tokens(codeyard: &Codeyard, users: usize) -> Result<Vec<String>> {
    let mut tokens = vec![create_token(codeyard, "admin@example.com", "platform_admin", &[]).await?];
    for user in 0..users {
        let user = format!("user{user}@example.com");
        tokens.push(create_token(codeyard, &user, "developer", &[]).await?);
    }
    Ok(tokens)
}

/// One target for each user.
pub fn targets(address: &str, tokens: &[String]) -> Vec<LoadTarget> {
    let users = tokens.iter().skip(1);
    users
        .map(|token| LoadTarget {
            address: address.to_owned(),
            path: format!("/servers/{SERVER}/mcp"),
            token: Some(token.clone()),
        })
        .collect()
}

/// Creates the virtual server; fails while the gateway does not answer yet.
pub async fn make(address: &str, admin: &str, body: &Value) -> Result<()> {
    let request = HttpRequest::new("POST /servers", admin, body);
    let answer = HttpConnection::to(address).ask(&request).await?;
    ensure!(answer.status < 300, "{} {}", answer.status, answer.body);
    Ok(())
}
