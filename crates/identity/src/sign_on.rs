//! From the verified claims of an issuer's token to who asks: address, role, teams, scopes and agent, by the operator's
//! rules.

mod claims;
mod refusal;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use types::TeamId;

use crate::{Email, Membership, PermissionSet, Role, TokenId, User};
use claims::{agent_of, has_value, is_elsewhere, place, scopes_of, text};

pub use refusal::SignOnRefusal;

/// The operator's rules for an issuer's claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOnRules {
    /// The claim with the user's address.
    pub user_claim: String,
    /// Whether users are created when they first sign on.
    pub new_users: NewUsers,
    /// Whether users whom an administrator created may sign on.
    pub existing_users: ExistingUsers,
    /// Role outside of teams for users to whom no rule gives one.
    pub role: Role,
    /// Roles and memberships by claims.
    pub claims: Vec<ClaimRule>,
    /// What each scope of a token permits. If empty, scopes limit nothing.
    pub scopes: BTreeMap<String, PermissionSet>,
    /// The agents that may act for users; `None` for any.
    pub agents: Option<BTreeSet<String>>,
}

/// What happens when a user who does not exist signs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewUsers {
    /// They are created.
    Create,
    /// They are refused.
    Refuse,
}

/// What happens when an account has the address of an existing user who is bound to no account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingUsers {
    /// The account is bound to the user, and gets the user's role, tokens and files.
    Link,
    /// They are refused.
    Refuse,
}

/// Gives something to the users whose claim has this value, or a list with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRule {
    /// A name, or names within names separated by dots.
    pub claim: String,
    /// Compared exactly.
    pub value: String,
    /// What the users get.
    pub gives: ClaimGrant,
}

/// What a rule gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimGrant {
    /// A role outside of teams. The first rule that matches counts.
    Role(Role),
    /// A role in a team.
    Member(TeamId, Role),
}

/// A user as an issuer knows them, by one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOn {
    /// The issuer's URL.
    pub issuer: String,
    /// Claim `sub`: the user at the issuer, whatever their address is.
    pub subject: String,
    /// Claim `sid`: the session at the issuer; empty if the token names none.
    pub session: String,
    /// The client that asked for the token; empty if the token names none.
    pub client: String,
    /// The agent that acts for the user.
    pub agent: Option<String>,
    /// The user's address, which names the user in this gateway.
    pub email: Email,
    /// The role outside of teams; `None` if no rule gives one, or the token leaves the claims out.
    pub role: Option<Role>,
    /// For each team that the claims decide about: the role there, or `None` for no membership.
    pub teams: BTreeMap<TeamId, Option<Role>>,
    /// What the token's scopes permit; `None` if scopes limit nothing.
    pub scopes: Option<PermissionSet>,
    /// Claim `iat`, in milliseconds since 1970.
    pub issued_ms: i64,
    /// Claim `exp`, in milliseconds since 1970.
    pub expires_ms: i64,
}

// === impl SignOnRules ===

impl SignOnRules {
    /// Who asks with a token whose signature, issuer, audience and times were verified.
    ///
    /// # Errors
    /// Why the rules admit nobody with these claims.
    pub fn decide(&self, claims: &Map<String, Value>) -> Result<SignOn, SignOnRefusal> {
        let required = |name: &'static str| text(claims, name).ok_or(SignOnRefusal::NoClaim(name.to_owned()));
        let agent = agent_of(claims)?;
        if let (Some(agent), Some(agents)) = (&agent, &self.agents)
            && !agents.contains(agent)
        {
            return Err(SignOnRefusal::Agent(types::spelled_out(agent)));
        }
        Ok(SignOn {
            issuer: required("iss")?.to_owned(),
            subject: required("sub")?.to_owned(),
            session: text(claims, "sid").unwrap_or_default().to_owned(),
            client: ["azp", "client_id", "cid", "appid"]
                .into_iter()
                .find_map(|name| text(claims, name))
                .unwrap_or_default()
                .to_owned(),
            agent,
            email: self.email(claims)?,
            role: self.role_by(claims),
            teams: self.teams_by(claims),
            scopes: (!self.scopes.is_empty()).then(|| self.permitted(claims)),
            issued_ms: claims::time(claims, "iat").unwrap_or_default(),
            expires_ms: claims::time(claims, "exp").unwrap_or_default(),
        })
    }

    /// Every team that a rule names.
    pub fn teams(&self) -> BTreeSet<&TeamId> {
        let teams = self.claims.iter().filter_map(|rule| match &rule.gives {
            ClaimGrant::Member(team, _) => Some(team),
            ClaimGrant::Role(_) => None,
        });
        teams.collect()
    }

    fn email(&self, claims: &Map<String, Value>) -> Result<Email, SignOnRefusal> {
        let address = text(claims, &self.user_claim);
        let address = address.ok_or_else(|| SignOnRefusal::NoClaim(self.user_claim.clone()))?;
        // Otherwise anyone who can enter any address at the issuer could sign on as any user.
        if is_unverified(claims) {
            return Err(SignOnRefusal::Unverified);
        }
        Ok(address.parse()?)
    }

    fn role_by(&self, claims: &Map<String, Value>) -> Option<Role> {
        let mut decides = false;
        for rule in &self.claims {
            if let ClaimGrant::Role(role) = rule.gives
                && !is_elsewhere(claims, &rule.claim)
            {
                if rule.holds(claims) {
                    return Some(role);
                }
                decides = true;
            }
        }
        decides.then_some(self.role)
    }

    fn teams_by(&self, claims: &Map<String, Value>) -> BTreeMap<TeamId, Option<Role>> {
        let mut teams: BTreeMap<TeamId, Option<Role>> = BTreeMap::new();
        for rule in &self.claims {
            if let ClaimGrant::Member(team, role) = &rule.gives
                && !is_elsewhere(claims, &rule.claim)
            {
                let given = teams.entry(team.clone()).or_default();
                if rule.holds(claims) {
                    *given = Some(given.map_or(*role, |other| greater(other, *role)));
                }
            }
        }
        teams
    }

    fn permitted(&self, claims: &Map<String, Value>) -> PermissionSet {
        let granted = scopes_of(claims).into_iter();
        let sets = granted.filter_map(|scope| self.scopes.get(scope).copied());
        sets.fold(PermissionSet::NONE, PermissionSet::union)
    }
}

// === impl ClaimRule ===

impl ClaimRule {
    /// A missing claim has no value: issuers leave empty lists out.
    fn holds(&self, claims: &Map<String, Value>) -> bool {
        place(claims, &self.claim).is_some_and(|value| has_value(value, &self.value))
    }
}

/// A missing claim counts as verified: most issuers send it only beside addresses that anyone may enter.
fn is_unverified(claims: &Map<String, Value>) -> bool {
    match claims.get("email_verified") {
        None | Some(Value::Bool(true)) => false,
        Some(Value::String(word)) => word != "true",
        Some(_) => true,
    }
}

/// The role with more permissions; each team role includes the ones below it.
fn greater(one: Role, other: Role) -> Role {
    match one.permissions().covers(other.permissions()) {
        true => one,
        false => other,
    }
}

// === impl SignOn ===

impl SignOn {
    /// Names the sign-on in lists, records and the audit table. Equal for all tokens of one session of one client, so
    /// that what was begun with one token goes on with the next.
    pub fn id(&self) -> TokenId {
        let mut hash = Sha256::new();
        let agent = self.agent.as_deref().unwrap_or_default();
        for part in [&self.issuer, &self.subject, &self.session, &self.client, agent] {
            hash.update(part.len().to_be_bytes());
            hash.update(part.as_bytes());
        }
        let digest: [u8; 32] = hash.finalize().into();
        let mut id = [0; 12];
        id.copy_from_slice(&digest[..12]);
        TokenId::new(id)
    }

    /// The role that the stored user lacks; `None` if nothing changes.
    pub fn new_role(&self, user: &User) -> Option<Role> {
        self.role.filter(|role| *role != user.role)
    }

    /// The memberships that change: the role in each team, or `None` for the end of one.
    pub fn new_memberships(&self, memberships: &[Membership]) -> Vec<(&TeamId, Option<Role>)> {
        let stored = |team: &TeamId| {
            let own = memberships.iter().find(|one| one.team == *team);
            own.map(|one| one.role)
        };
        let decided = self.teams.iter().map(|(team, role)| (team, *role));
        decided.filter(|(team, role)| stored(team) != *role).collect()
    }
}
