//! A gateway whose users sign on at an issuer, and requests with their tokens.

use serde_json::{Value, json};
use test_support::{Codeyard, Issuer, UserLogin};

use crate::gateway::actors::ADMIN;
use crate::gateway::running::{Gateway, code, installation};
use crate::http::served::{self, Response, Stream, initialize};

pub const ANN: &str = "ann@example.com";
pub const BEN: &str = "ben@example.com";

/// The gateway beside its issuer.
pub struct SignedOn {
    pub gateway: Gateway,
    pub issuer: Issuer,
}

/// The settings of an issuer: members of its section, then rules.
pub fn settings(issuer: &Issuer, audience: &str, more: &str) -> String {
    format!(
        "[[gateway.issuers]]\nissuer = \"{}\"\naudiences = [\"{audience}\"]\nlogout_audiences = [\"client-one\", \"client-two\"]\n{more}\n",
        issuer.url
    )
}

/// An address where nobody listens.
pub fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

impl SignedOn {
    /// A plain issuer whose users are developers, with further settings.
    pub async fn start(more: &str) -> SignedOn {
        SignedOn::start_with(installation(), more).await
    }

    pub async fn start_with(codeyard: Codeyard, more: &str) -> SignedOn {
        let (issuer, address) = (Issuer::start("plain").await.unwrap(), free_address());
        let written = settings(
            &issuer,
            &format!("http://{address}"),
            &format!("role = \"developer\"\n{more}"),
        );
        let gateway = Gateway::start_with(codeyard.settings(&written), &["--listen", &address]).await;
        let logout_uri = format!("http://{address}/sign-on/logout");
        issuer.configure(json!({"logout_uri": logout_uri})).await.unwrap();
        SignedOn { gateway, issuer }
    }

    /// The gateway as a resource.
    pub fn resource(&self) -> String {
        format!("http://{}", self.gateway.address)
    }

    /// The token of a user for the whole gateway.
    pub async fn token(&self, user: &str) -> String {
        self.token_for(user, &self.resource(), "mcp:read mcp:use").await
    }

    pub async fn token_for(&self, user: &str, resource: &str, scope: &str) -> String {
        let login = UserLogin {
            resource: Some(resource),
            scope,
            ..UserLogin::new(user)
        };
        self.issuer.login(login).await.unwrap()
    }

    /// A public virtual server.
    pub async fn server(&self) -> String {
        public_server(&self.gateway).await
    }

    pub async fn get(&self, token: &str, path: &str) -> Response {
        self.gateway
            .rest_with(Some(token), &format!("GET {path}"), b"")
            .await
    }

    pub async fn status(&self, token: &str, path: &str) -> u16 {
        self.get(token, path).await.status
    }
}

/// Made by an administrator, for everybody.
pub async fn public_server(gateway: &Gateway) -> String {
    let more = json!({"visibility": "public"});
    gateway.make(&ADMIN, code(&gateway.name("public"), &more)).await
}

/// A program over `/rpc`.
pub fn program(server: &str, code: &str) -> Value {
    let arguments = json!({"code": code, "language": "python"});
    let params = json!({"server_id": server, "name": "shell_exec", "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

/// Sends a message as a client of MCP does.
pub async fn send(gateway: &Gateway, token: &str, path: &str, message: &Value) -> Stream {
    let bearer = format!("Bearer {token}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    served::send(
        &gateway.address,
        ("POST", path),
        &headers,
        message.to_string().as_bytes(),
    )
    .await
}

/// The status with which a client opens a session at a virtual server.
pub async fn opened(gateway: &Gateway, token: &str, server: &str) -> u16 {
    let path = format!("/servers/{server}/mcp");
    send(gateway, token, &path, &initialize())
        .await
        .whole()
        .await
        .status
}
