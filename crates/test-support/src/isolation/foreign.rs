//! Requests about ids of the other group, guessed ids and removed ids: their answers must not differ.

use anyhow::Result;
use serde_json::{Value, json};

use super::actor::Actor;
use super::programs::{call, initialize};
use super::world::{Member, ModelServer};
use crate::gateway::HttpRequest;

/// Requests about a virtual server.
pub(super) const OF_SERVER: [&str; 12] = [
    "GET /servers/{}",
    "PUT /servers/{}",
    "DELETE /servers/{}",
    "GET /servers/{}/tools",
    "GET /servers/{}/code/runs",
    "GET /servers/{}/code/runs?format=csv",
    "GET /servers/{}/code/sessions",
    "GET /servers/{}/code/security-events?format=jsonl",
    "GET /servers/{}/sse",
    "GET /servers/{}/mcp",
    "DELETE /servers/{}/mcp",
    "POST /servers/{}/message?sessionId=guessed",
];
const OF_UPSTREAM: [&str; 4] = [
    "GET /upstreams/{}",
    "PUT /upstreams/{}",
    "DELETE /upstreams/{}",
    "POST /upstreams/{}/test",
];
const OF_TEAM: [&str; 4] = [
    "GET /teams/{}",
    "PUT /teams/{}",
    "DELETE /teams/{}",
    "GET /teams/{}/members",
];
const OF_USER: [&str; 3] = ["GET /users/{}", "DELETE /users/{}", "GET /tokens?user={}"];

impl Actor {
    /// Compares a request about an object of the other group, or a removed one, with the same request about an
    /// unknown id.
    pub(super) async fn ask_foreign(&mut self, played: usize) -> Result<()> {
        let member = self.member(played);
        let Some(stranger) = self.world.stranger(member.reader, &mut self.rng).cloned() else {
            return Ok(());
        };
        let group = stranger.reader.group;
        let token = member.token.clone();
        match self.rng.u32(..10) {
            0..=3 => self.ask_foreign_server(&member).await,
            4 => self.call_foreign_server(&member).await,
            5 => {
                let id = self.world.upstreams[group].clone();
                let row = self.rng.choice(OF_UPSTREAM).unwrap_or_default();
                self.ask_alike(&member, &id, |id| filled(row, id, &token)).await
            }
            6 => {
                let id = self.world.teams[group].clone();
                let row = self.rng.choice(OF_TEAM).unwrap_or_default();
                self.ask_alike(&member, &id, |id| filled(row, id, &token)).await
            }
            7 => {
                let row = self.rng.choice(OF_USER).unwrap_or_default();
                self.ask_alike(&member, &stranger.email, |id| filled(row, id, &token))
                    .await
            }
            8 => {
                let make = |id: &str| filled("DELETE /tokens/{}", id, &token);
                self.ask_alike(&member, &stranger.token_id, make).await
            }
            _ => self.use_foreign_session(&member).await,
        }
    }

    /// The id of a removed server, or of one that the member cannot see.
    fn hidden_server(&mut self, member: &Member) -> Option<String> {
        let hidden = |server: &ModelServer| !server.is_seen_by(member);
        let (_, server) = self.world.server(&mut self.rng, hidden)?;
        self.world.is_hidden(&server.id, member).then_some(server.id)
    }

    async fn ask_foreign_server(&mut self, member: &Member) -> Result<()> {
        let Some(id) = self.hidden_server(member) else {
            return Ok(());
        };
        let row = self.rng.choice(OF_SERVER).unwrap_or_default();
        self.ask_alike(member, &id, |id| filled(row, id, &member.token))
            .await
    }

    /// Calls a program at another group's server, over each entry.
    async fn call_foreign_server(&mut self, member: &Member) -> Result<()> {
        let Some(id) = self.hidden_server(member) else {
            return Ok(());
        };
        let token = &member.token;
        let arguments = json!({"code": "print(1)", "language": "python"});
        match self.rng.u32(..4) {
            0 => {
                let make = |id: &str| HttpRequest::rpc(token, "1", "tools/call", call(id, "print(1)"));
                self.ask_alike(member, &id, make).await
            }
            1 => {
                let make = |id: &str| HttpRequest::rpc(token, "1", "tools/list", json!({"server_id": id}));
                self.ask_alike(member, &id, make).await
            }
            2 => {
                let make = |id: &str| HttpRequest::modern_call(id, token, "shell_exec", &arguments);
                self.ask_alike(member, &id, make).await
            }
            _ => {
                let make = |id: &str| HttpRequest::mcp(id, token, None, &initialize());
                self.ask_alike(member, &id, make).await
            }
        }
    }

    /// Uses another member's MCP session at that member's server and at a server of this member.
    async fn use_foreign_session(&mut self, member: &Member) -> Result<()> {
        let own = self
            .world
            .server(&mut self.rng, |server| server.is_seen_by(member));
        let theirs = {
            let state = self.world.state();
            let others = state
                .mcp_sessions
                .iter()
                .filter(|(user, ..)| *user != member.reader);
            self.rng.choice(others.collect::<Vec<_>>()).cloned()
        };
        let (Some((number, own)), Some((_, _, session))) = (own, theirs) else {
            return Ok(());
        };
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let (server, token) = (own.id.clone(), member.token.clone());
        let row = self.rng.u32(..3);
        let make = |session: &str| match row {
            0 => HttpRequest::mcp(&server, &token, Some(session), &message),
            1 => HttpRequest::new(format!("DELETE /servers/{server}/mcp"), &token, &Value::Null)
                .header("mcp-session-id", session),
            _ => HttpRequest::new(format!("GET /servers/{server}/mcp"), &token, &Value::Null)
                .header("accept", "text/event-stream")
                .header("mcp-session-id", session)
                .header("last-event-id", "1"),
        };
        let still = (number, own);
        self.ask_alike_while(member, &session, make, Some(&still)).await
    }

    /// Cancels a call of another member by its id.
    pub(super) async fn cancel_foreign(&mut self, played: usize) -> Result<()> {
        let member = self.member(played);
        let call = {
            let state = self.world.state();
            let others = state.calls.iter().filter(|(user, _)| *user != member.reader);
            self.rng.choice(others.collect::<Vec<_>>()).cloned()
        };
        let id = call.map_or_else(|| "call-0-1".to_owned(), |(_, id)| id);
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        let answer = self
            .ask(&member, HttpRequest::new("POST /rpc", &member.token, &cancel))
            .await?;
        let is_viewer = member.role == super::world::MemberRole::Viewer;
        self.expect("a cancellation", &answer, if is_viewer { 403 } else { 202 });
        Ok(())
    }
}

/// Fills an id into a row of the table; adds a body if the method needs one.
pub(super) fn filled(row: &str, id: &str, token: &str) -> HttpRequest {
    let body = match row.split(' ').next() {
        Some("PUT") => json!({"name": "changed"}),
        Some("POST") => initialize(),
        _ => Value::Null,
    };
    HttpRequest::new(row.replace("{}", id), token, &body)
}
