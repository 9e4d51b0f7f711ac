//! The users of the acceptance cases.

/// A user with one token.
#[derive(Debug, Clone, Copy)]
pub struct Actor {
    pub email: &'static str,
    pub role: &'static str,
    pub teams: &'static [&'static str],
}

pub const ADMIN: Actor = actor("admin@example.com", "platform_admin", &[]);
pub const ADMIN2: Actor = actor("admin2@example.com", "platform_admin", &[]);
pub const ANA: Actor = actor("ana@example.com", "team_admin", &["team-a"]);
pub const ALICE: Actor = actor("alice@example.com", "developer", &["team-a"]);
pub const AL2: Actor = actor("al2@example.com", "developer", &["team-a"]);
pub const VIC: Actor = actor("vic@example.com", "viewer", &["team-a"]);
pub const BOB: Actor = actor("bob@example.com", "team_admin", &["team-b"]);
/// A token of no team.
pub const PUB: Actor = actor("pub@example.com", "developer", &[]);

const fn actor(email: &'static str, role: &'static str, teams: &'static [&'static str]) -> Actor {
    Actor { email, role, teams }
}

/// The user with a token of no team.
pub fn alone(actor: Actor) -> Actor {
    Actor { teams: &[], ..actor }
}
