//! The model: two groups of users, their virtual servers, and each server's permitted readers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;

use super::marker::{Reader, Sharing, plant};

/// Longest time for which the other gateway answers from its cache after a change, with a margin for timers.
const CHANGE_SEEN_AFTER: Duration = Duration::from_millis(120);

/// A user with a token.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) reader: Reader,
    pub(super) email: String,
    pub(super) role: MemberRole,
    pub(super) token: String,
    pub(super) token_id: String,
}

/// The role in the member's team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberRole {
    /// `team_admin`.
    Lead,
    /// `developer`.
    Developer,
    /// `viewer`.
    Viewer,
}

/// A virtual server in the model.
#[derive(Debug, Clone)]
pub(super) struct ModelServer {
    pub(super) id: String,
    pub(super) owner: Reader,
    pub(super) is_private: bool,
    /// Increases with each change.
    pub(super) version: u32,
    pub(super) is_removed: bool,
    /// Changes that answers may or may not show yet. A change is open until its own answer, and for
    /// [`CHANGE_SEEN_AFTER`] longer.
    pub(super) open_changes: u32,
}

/// The objects of both groups.
#[derive(Debug)]
pub(super) struct World {
    pub(super) members: Vec<Member>,
    /// By group.
    pub(super) teams: [String; 2],
    /// By group: an upstream server that only the team sees.
    pub(super) upstreams: [String; 2],
    /// The gateways' addresses.
    pub(super) addresses: Vec<String>,
    state: Mutex<WorldState>,
}

#[derive(Debug, Default)]
pub(super) struct WorldState {
    pub(super) servers: Vec<ModelServer>,
    /// Ids of current calls, with their callers.
    pub(super) calls: Vec<(Reader, String)>,
    /// MCP sessions, with their users and servers.
    pub(super) mcp_sessions: Vec<(Reader, String, String)>,
}

// === impl Member ===

impl Member {
    pub(super) fn plant(&self, sharing: Sharing, rng: &mut Rng) -> String {
        plant(self.reader, sharing, rng)
    }
}

// === impl MemberRole ===

impl MemberRole {
    pub(super) fn name(self) -> &'static str {
        match self {
            MemberRole::Lead => "team_admin",
            MemberRole::Developer => "developer",
            MemberRole::Viewer => "viewer",
        }
    }
}

// === impl ModelServer ===

impl ModelServer {
    pub(super) fn is_seen_by(&self, member: &Member) -> bool {
        self.open_changes == 0 && self.may_be_seen_by(member)
    }

    fn may_be_seen_by(&self, member: &Member) -> bool {
        let is_own = self.owner == member.reader;
        let may_exist = !self.is_removed || self.open_changes > 0;
        may_exist && self.owner.group == member.reader.group && (is_own || !self.is_private)
    }

    /// Whether the member may change and remove the server.
    pub(super) fn is_managed_by(&self, member: &Member) -> bool {
        let manages = match member.role {
            MemberRole::Lead => true,
            MemberRole::Developer => self.owner == member.reader,
            MemberRole::Viewer => false,
        };
        self.is_seen_by(member) && manages
    }
}

// === impl World ===

impl World {
    pub(super) fn new(
        members: Vec<Member>,
        teams: [String; 2],
        upstreams: [String; 2],
        addresses: Vec<String>,
    ) -> World {
        World {
            members,
            teams,
            upstreams,
            addresses,
            state: Mutex::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, WorldState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number and the state of a random matching server.
    pub(super) fn server(
        &self,
        rng: &mut Rng,
        fits: impl Fn(&ModelServer) -> bool,
    ) -> Option<(usize, ModelServer)> {
        let state = self.state();
        let fitting = state
            .servers
            .iter()
            .enumerate()
            .filter(|(_, server)| fits(server));
        let fitting: Vec<_> = fitting.collect();
        let (number, server) = rng.choice(fitting)?;
        Some((number, server.clone()))
    }

    /// Adds a server; returns its number.
    pub(super) fn add(&self, server: ModelServer) -> usize {
        let mut state = self.state();
        state.servers.push(server);
        state.servers.len() - 1
    }

    /// Marks a server as changing.
    pub(super) fn begin_change(&self, number: usize) {
        self.change(number, |server| server.open_changes += 1);
    }

    /// Marks a change as answered.
    pub(super) fn end_change(self: &Arc<World>, number: usize) {
        let world = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(CHANGE_SEEN_AFTER).await;
            world.change(number, |server| server.open_changes -= 1);
        });
    }

    /// Marks a server as removed or never created.
    pub(super) fn remove(self: &Arc<World>, number: usize) {
        self.change(number, |server| server.is_removed = true);
        self.end_change(number);
    }

    fn change(&self, number: usize, change: impl FnOnce(&mut ModelServer)) {
        if let Some(server) = self.state().servers.get_mut(number) {
            server.version += 1;
            change(server);
        }
    }

    /// Whether the member sees no server with this id.
    pub(super) fn is_hidden(&self, id: &str, member: &Member) -> bool {
        let state = self.state();
        let mut servers = state.servers.iter();
        !servers.any(|server| server.id == id && server.may_be_seen_by(member))
    }

    /// Whether a server is unchanged, so that an answer about it can be checked.
    pub(super) fn is_unchanged(&self, number: usize, before: &ModelServer) -> bool {
        let state = self.state();
        let now = state.servers.get(number);
        now.is_some_and(|now| now.version == before.version && now.open_changes == 0)
    }

    /// A member of the other group.
    pub(super) fn stranger(&self, of: Reader, rng: &mut Rng) -> Option<&Member> {
        let others = self
            .members
            .iter()
            .filter(|member| member.reader.group != of.group);
        rng.choice(others.collect::<Vec<_>>())
    }
}
