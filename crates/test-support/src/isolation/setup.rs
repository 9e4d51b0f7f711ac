//! Two gateways on one Postgres, and the two groups' users, teams and upstream servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};
use fastrand::Rng;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::marker::{Reader, Sharing, plant};
use super::world::{Member, MemberRole, World};
use crate::gateway::{GatewayProcess, HttpConnection, HttpRequest, create_token, sharing};
use crate::{Codeyard, PostgresServer, RemoteServer, Way};

const ADMIN: &str = "admin@example.com";

/// The token that the groups' upstream servers require.
const UPSTREAM_TOKEN: &str = "a-token-of-the-operator";

/// The gateways and their environment; all end on drop.
pub(super) struct Setup {
    pub(super) world: Arc<World>,
    gateways: Vec<GatewayProcess>,
    admin: String,
    codeyard: Codeyard,
    members: AtomicUsize,
    _upstreams: Vec<RemoteServer>,
    _postgres: PostgresServer,
    _data: TempDir,
}

// === impl Setup ===

impl Setup {
    pub(super) async fn start(members_of_group: usize, rng: &mut Rng) -> Result<Setup> {
        let postgres = PostgresServer::start()?;
        let url = postgres.make("isolation")?;
        let data = tempfile::tempdir()?;
        let codeyard = sharing(&url, data.path())?;
        let gateways = vec![
            GatewayProcess::start_advertised(&codeyard)?,
            GatewayProcess::start_advertised(&sharing(&url, data.path())?)?,
        ];
        let addresses = gateways.iter().map(|gateway| gateway.address().to_owned());
        let admin = create_token(&codeyard, ADMIN, "platform_admin", &[]).await?;
        let names = [0, 1].map(|group| {
            let first = Reader {
                group,
                member: group * members_of_group,
            };
            let mut word = |prefix: &str| format!("{prefix}-{}", plant(first, Sharing::Group, rng));
            (word("team"), word("upstream"))
        });
        let [(team, upstream), (other_team, other_upstream)] = names;
        let mut setup = Setup {
            world: Arc::new(World::new(
                Vec::new(),
                [team, other_team],
                [upstream, other_upstream],
                addresses.collect(),
            )),
            gateways,
            admin,
            codeyard,
            members: AtomicUsize::new(0),
            _upstreams: Vec::new(),
            _postgres: postgres,
            _data: data,
        };
        setup.add_groups(members_of_group, rng).await?;
        Ok(setup)
    }

    async fn add_groups(&mut self, members_of_group: usize, rng: &mut Rng) -> Result<()> {
        let mut members = Vec::new();
        for (group, team) in self.world.teams.iter().enumerate() {
            let body = json!({"id": team, "name": format!("name {team}")});
            self.ask_as(&self.admin, "POST /teams", &body).await?;
            for number in 0..members_of_group {
                let role = match number {
                    0 => MemberRole::Lead,
                    number if number % 6 == 5 => MemberRole::Viewer,
                    _ => MemberRole::Developer,
                };
                members.push(self.add_member(group, role, rng).await?);
            }
        }
        let mut upstreams = Vec::new();
        for (team, name) in self.world.teams.iter().zip(&self.world.upstreams) {
            let remote = RemoteServer::start(Way::Modern).await?;
            remote.require_token(UPSTREAM_TOKEN);
            let body = json!({
                "name": name, "url": remote.url(), "team_id": team, "visibility": "team", "tags": [name],
                "headers": {"Authorization": format!("Bearer {UPSTREAM_TOKEN}")}, "description": name,
            });
            self.ask_as(&self.admin, "POST /upstreams", &body).await?;
            upstreams.push(remote);
        }
        let world = Arc::get_mut(&mut self.world).context("the world is already shared")?;
        world.members = members;
        self._upstreams = upstreams;
        Ok(())
    }

    /// Creates a user of a group, with a token.
    pub(super) async fn add_member(&self, group: usize, role: MemberRole, rng: &mut Rng) -> Result<Member> {
        let member = self.members.fetch_add(1, Ordering::Relaxed).min(0xff);
        let reader = Reader { group, member };
        let email = format!("{}@example.com", plant(reader, Sharing::Group, rng));
        let team = &self.world.teams[group];
        let outside = match role {
            MemberRole::Viewer => "viewer",
            _ => "developer",
        };
        let user = json!({"user": email, "role": outside});
        self.ask_as(&self.admin, "POST /users", &user).await?;
        let place = format!("PUT /teams/{team}/members/{email}");
        self.ask_as(&self.admin, &place, &json!({"role": role.name()}))
            .await?;
        let token = json!({"user": email, "role": role.name(), "teams": [team]});
        let made = self.ask_as(&self.admin, "POST /tokens", &token).await?;
        let text = |value: &Value| value.as_str().map(str::to_owned).context("a text");
        Ok(Member {
            reader,
            email,
            role,
            token: text(&made["token"])?,
            token_id: text(&made["details"]["id"])?,
        })
    }

    /// The lead of a group.
    pub(super) fn lead(&self, group: usize) -> &Member {
        let mut members = self.world.members.iter();
        let lead = members.find(|member| member.reader.group == group && member.role == MemberRole::Lead);
        lead.unwrap_or(&self.world.members[0])
    }

    /// A request that must succeed.
    pub(super) async fn ask_as(&self, token: &str, line: &str, body: &Value) -> Result<Value> {
        let mut connection = HttpConnection::to(&self.world.addresses[0]);
        let answer = connection.ask(&HttpRequest::new(line, token, body)).await?;
        ensure!(answer.status < 300, "{line}: {} {}", answer.status, answer.body);
        answer.json()
    }

    /// Verifies the audit chain, and stops the gateways in order.
    pub(super) async fn finish(self) -> Result<()> {
        let verified = self.codeyard.run(["audit", "verify"]).await?;
        let complaint = String::from_utf8_lossy(&verified.stderr).into_owned();
        ensure!(verified.status.success(), "`codeyard audit verify`: {complaint}");
        for gateway in self.gateways {
            gateway.finish()?;
        }
        Ok(())
    }
}
