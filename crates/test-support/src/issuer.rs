//! An OpenID Connect issuer with the habits of a product, and its users.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use crate::upstreams::installed;

/// A real `oidc-provider`; it ends when the value is dropped.
#[derive(Debug)]
pub struct Issuer {
    /// Its URL, as in the claim `iss`.
    pub url: String,
    orders: Mutex<(ChildStdin, Lines<BufReader<ChildStdout>>)>,
    _process: Child,
}

/// How a user logs in.
#[derive(Debug, Clone, Copy)]
pub struct UserLogin<'a> {
    /// The user's address.
    pub user: &'a str,
    /// `client-one` or `client-two`.
    pub client: &'a str,
    /// RFC 8707: what the token is for.
    pub resource: Option<&'a str>,
    /// Scopes, separated by spaces.
    pub scope: &'a str,
}

// === impl Issuer ===

impl Issuer {
    /// Starts one: `plain`, `entra`, `okta` or `keycloak`.
    pub async fn start(profile: &str) -> Result<Issuer> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oauth/issuer.mjs");
        let mut process = Command::new("node")
            .arg(script)
            .arg(installed().join("node_modules"))
            .arg(profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("node")?;
        let stdin = process.stdin.take().context("stdin is piped")?;
        let stdout = process.stdout.take().context("stdout is piped")?;
        let mut lines = BufReader::new(stdout).lines();
        let first = lines.next_line().await?.context("the issuer ended")?;
        let first: Value = serde_json::from_str(&first)?;
        Ok(Issuer {
            url: first["issuer"].as_str().context("an address")?.to_owned(),
            orders: Mutex::new((stdin, lines)),
            _process: process,
        })
    }

    /// Changes `ttl` (seconds), `agent`, `logout_uri`, or `extra` claims of access tokens.
    pub async fn configure(&self, settings: Value) -> Result<()> {
        self.order(json!({"configure": settings})).await.map(drop)
    }

    /// Signs with a new key from now on, and publishes no other.
    pub async fn rotate(&self) -> Result<()> {
        self.order(json!({"rotate": true})).await.map(drop)
    }

    /// The access token of a user who logs in at the issuer's pages.
    pub async fn login(&self, login: UserLogin<'_>) -> Result<String> {
        let order = json!({
            "login": login.user, "client": login.client, "resource": login.resource, "scope": login.scope,
        });
        let tokens = self.order(order).await?;
        let token = tokens["access_token"].as_str();
        Ok(token.with_context(|| format!("no token: {tokens}"))?.to_owned())
    }

    /// A user signs out at the issuer's pages. The issuer has told its clients when this returns.
    pub async fn logout(&self, user: &str) -> Result<()> {
        self.order(json!({"logout": user})).await.map(drop)
    }

    async fn order(&self, order: Value) -> Result<Value> {
        let mut orders = self.orders.lock().await;
        let (stdin, lines) = &mut *orders;
        stdin.write_all(format!("{order}\n").as_bytes()).await?;
        let answer = lines.next_line().await?.context("the issuer ended")?;
        let answer: Value = serde_json::from_str(&answer)?;
        match answer["failed"].as_str() {
            Some(why) => bail!("{order}: {why}"),
            None => Ok(answer),
        }
    }
}

// === impl UserLogin ===

impl<'a> UserLogin<'a> {
    /// With a client that asks for everything, for no resource.
    pub fn new(user: &'a str) -> UserLogin<'a> {
        UserLogin {
            user,
            client: "client-one",
            resource: None,
            scope: "mcp:read mcp:use",
        }
    }
}
