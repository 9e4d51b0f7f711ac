//! Operations over REST on virtual servers, tokens and records of a member's own group.

use anyhow::Result;
use serde_json::{Value, json};

use super::actor::Actor;
use super::marker::Sharing;
use super::world::{Member, MemberRole, ModelServer};
use crate::gateway::{HttpRequest, python_server};

/// Most virtual servers of a group.
const MOST_SERVERS: usize = 6;
const LEAST_SERVERS: usize = 3;

impl Actor {
    /// Creates a virtual server, sometimes with the id of the other group's removed server.
    pub(super) async fn create_server(&mut self, played: usize) -> Result<()> {
        let member = self.member(played);
        if self.servers_of_group(&member) >= MOST_SERVERS {
            return self.read_server(played).await;
        }
        let word = member.plant(Sharing::Group, &mut self.rng);
        let is_private = self.rng.u32(..4) == 0;
        let sharing = if is_private {
            Sharing::Owner
        } else {
            Sharing::Group
        };
        let hidden = member.plant(sharing, &mut self.rng);
        let mut id: String = (0..16).map(|_| self.rng.digit(16)).collect();
        if self.rng.u32(..3) == 0 {
            let group = member.reader.group;
            let removed = |server: &ModelServer| server.is_removed && server.owner.group != group;
            let old = self.world.server(&mut self.rng, removed);
            id = old.map_or(id, |(_, server)| server.id);
        }
        let mut body = python_server(&format!("name {hidden}"));
        body["id"] = json!(id);
        body["description"] = json!(hidden);
        body["tags"] = json!([if is_private { &hidden } else { &word }]);
        body["team_id"] = json!(self.world.teams[member.reader.group]);
        body["visibility"] = json!(if is_private { "private" } else { "team" });
        if member.role == MemberRole::Viewer {
            let request = HttpRequest::new("POST /servers", &member.token, &body);
            let answer = self.ask(&member, request).await?;
            self.expect("POST /servers of a viewer", &answer, 403);
            return Ok(());
        }
        // Enters the model before it exists, so that other clients do not treat its id as unknown.
        let number = self.world.add(ModelServer {
            id,
            owner: member.reader,
            is_private,
            version: 0,
            is_removed: false,
            open_changes: 1,
        });
        let request = HttpRequest::new("POST /servers", &member.token, &body);
        let answer = self.ask(&member, request).await?;
        match answer.status {
            201 => self.world.end_change(number),
            _ => self.world.remove(number),
        }
        if answer.status != 409 {
            // Another client may just have reused an old id.
            self.expect("POST /servers", &answer, 201);
        }
        Ok(())
    }

    fn servers_of_group(&self, member: &Member) -> usize {
        let group = member.reader.group;
        let state = self.world.state();
        let servers = state.servers.iter();
        servers
            .filter(|server| server.owner.group == group && !server.is_removed)
            .count()
    }

    /// Reads a virtual server of the group, or its tools.
    pub(super) async fn read_server(&mut self, played: usize) -> Result<()> {
        let member = self.member(played);
        let group = member.reader.group;
        let of_group = |server: &ModelServer| server.owner.group == group;
        let Some((number, server)) = self.world.server(&mut self.rng, of_group) else {
            return Ok(());
        };
        let end = self.rng.choice(["", "/tools"]).unwrap_or_default();
        let line = format!("GET /servers/{}{end}", server.id);
        let answer = self
            .ask(
                &member,
                HttpRequest::new(line.clone(), &member.token, &Value::Null),
            )
            .await?;
        let expected = if server.is_seen_by(&member) { 200 } else { 404 };
        let is_reused = self.is_reused(&server.id);
        if self.world.is_unchanged(number, &server) && !is_reused {
            self.expect(&line, &answer, expected);
        }
        Ok(())
    }

    fn is_reused(&self, id: &str) -> bool {
        let state = self.world.state();
        state.servers.iter().filter(|server| server.id == id).count() > 1
    }

    /// Changes or removes a virtual server of the group.
    pub(super) async fn change_server(&mut self, played: usize) -> Result<()> {
        let member = self.member(played);
        let Some((number, server)) = self
            .world
            .server(&mut self.rng, |server| server.is_seen_by(&member))
        else {
            return Ok(());
        };
        let removes = self.rng.u32(..2) == 0 && self.servers_of_group(&member) > LEAST_SERVERS;
        let word = member.plant(Sharing::Group, &mut self.rng);
        let (method, body) = match (removes, server.is_private) {
            (true, _) => ("DELETE", Value::Null),
            (false, true) => ("PUT", json!({"tags": ["changed"]})),
            (false, false) => ("PUT", json!({ "description": word })),
        };
        let line = format!("{method} /servers/{}", server.id);
        let may = server.is_managed_by(&member);
        if may {
            self.world.begin_change(number);
        }
        let answer = self
            .ask(&member, HttpRequest::new(line.clone(), &member.token, &body))
            .await?;
        match (may, removes) {
            (true, true) => self.world.remove(number),
            (true, false) => self.world.end_change(number),
            (false, _) => {}
        }
        match may {
            // Another client may have changed or removed the server at the same time.
            true if [404, 409].contains(&answer.status) => {}
            true => self.expect(&line, &answer, 200),
            false if self.world.is_unchanged(number, &server) => self.expect(&line, &answer, 403),
            false => {}
        }
        Ok(())
    }

    /// Requests lists with every filter.
    pub(super) async fn list(&mut self, played: usize) -> Result<()> {
        let member = self.member(played);
        let team = self.world.teams[1 - member.reader.group].clone();
        let other = self.world.stranger(member.reader, &mut self.rng).cloned();
        let other = other.map_or_else(String::new, |other| other.email);
        let group = member.reader.group;
        let seen = |server: &ModelServer| server.is_seen_by(&member);
        let server = self.world.server(&mut self.rng, seen);
        let server = server.map_or_else(|| "none".to_owned(), |(_, server)| server.id);
        let lists = [
            "/servers?limit=500".to_owned(),
            "/servers?include_pagination=true&limit=2".to_owned(),
            format!("/servers?team_id={team}"),
            "/upstreams".to_owned(),
            "/tokens".to_owned(),
            format!("/tokens?user={other}"),
            "/teams".to_owned(),
            "/users".to_owned(),
            "/audit".to_owned(),
            "/metrics".to_owned(),
            "/openapi.json".to_owned(),
            format!("/teams/{}/members", self.world.teams[group]),
            format!("/servers/{server}/code/runs"),
            format!("/servers/{server}/code/runs?user={other}"),
            format!("/servers/{server}/code/runs?team_id={team}"),
            format!("/servers/{server}/code/runs?format=csv"),
            format!("/servers/{server}/code/runs?format=jsonl"),
            format!("/servers/{server}/code/security-events?format=jsonl"),
            format!("/servers/{server}/code/security-events"),
            format!("/servers/{server}/code/sessions"),
            format!("/servers/{server}/code/sessions?user={other}"),
        ];
        let path = self.rng.choice(&lists).cloned().unwrap_or_default();
        let line = format!("GET {path}");
        let answer = self
            .ask(
                &member,
                HttpRequest::new(line.clone(), &member.token, &Value::Null),
            )
            .await?;
        let is_of_all = ["/users", "/audit", "/metrics"].contains(&path.as_str());
        if is_of_all {
            self.expect(&line, &answer, 403);
        }
        if path.contains(&other) && answer.status == 200 && answer.body.len() > 64 {
            // A user whom the caller may not see must look like an unknown user.
            let wrong = format!("{line} of {}: {}", member.email, answer.body);
            self.tally.complain(wrong);
        }
        if path.ends_with("/code/runs") && member.role != MemberRole::Lead {
            self.check_owner(&member, &answer.json().unwrap_or_default());
        }
        Ok(())
    }

    /// A member who is not a team administrator sees only the member's own runs.
    fn check_owner(&mut self, member: &Member, runs: &Value) {
        let runs = runs.as_array().into_iter().flatten();
        let foreign: Vec<&Value> = runs
            .filter(|run| run["user_email"] != member.email.as_str())
            .collect();
        if !foreign.is_empty() {
            let wrong = format!("{} sees runs of others: {foreign:?}", member.email);
            self.tally.complain(wrong);
        }
    }

    /// Creates or revokes an API token.
    pub(super) async fn change_tokens(&mut self, played: usize) -> Result<()> {
        let member = self.member(played);
        if let Some(id) = self.played[played].1.tokens.pop() {
            let line = format!("DELETE /tokens/{id}");
            let request = HttpRequest::new(line.clone(), &member.token, &Value::Null);
            let answer = self.ask(&member, request).await?;
            self.expect(&line, &answer, 200);
            return Ok(());
        }
        let name = member.plant(Sharing::Owner, &mut self.rng);
        let team = &self.world.teams[member.reader.group];
        let body = json!({"name": name, "role": member.role.name(), "teams": [team]});
        let request = HttpRequest::new("POST /tokens", &member.token, &body);
        let answer = self.ask(&member, request).await?;
        let expected = if member.role == MemberRole::Viewer {
            403
        } else {
            201
        };
        self.expect("POST /tokens", &answer, expected);
        let made = answer.json().unwrap_or_default();
        let id = made["details"]["id"].as_str().map(str::to_owned);
        self.played[played].1.tokens.extend(id);
        Ok(())
    }
}
