//! The identity behind an issuer's token, and what such a token adds: an agent, an audience, and scopes to ask for.

use std::collections::BTreeMap;

use types::TeamId;

use super::own_teams;
use crate::token_context::SignedOn;
use crate::{
    Identity, Membership, Permission, PermissionSet, Role, SignOn, SignOnRefusal, TokenContext, User,
};

// === impl Identity ===

impl Identity {
    /// The identity of a user who signed on, from what is stored at this moment.
    ///
    /// # Errors
    /// If the user is disabled.
    pub fn signed_on(
        sign_on: &SignOn,
        context: TokenContext,
        user: &User,
        memberships: &[Membership],
    ) -> Result<Identity, SignOnRefusal> {
        if user.disabled_ms.is_some() {
            return Err(SignOnRefusal::Disabled);
        }
        Ok(Identity {
            principal: user.principal.clone(),
            token: sign_on.id(),
            granted: user.role,
            role: user.role,
            teams: teams(user, memberships),
            scopes: sign_on.scopes.unwrap_or(PermissionSet::ALL),
            expires_ms: Some(sign_on.expires_ms),
            signed_on: Some(SignedOn {
                agent: sign_on.agent.clone(),
                context,
            }),
        })
    }

    /// The agent that acts for the user, if the token names one.
    pub fn agent(&self) -> Option<&str> {
        self.signed_on.as_ref()?.agent.as_deref()
    }

    /// Whether the user signed on at an issuer, in place of an API token.
    pub fn is_signed_on(&self) -> bool {
        self.signed_on.is_some()
    }

    /// Whether the token is for this path: its audiences may be single virtual servers.
    pub fn is_for_path(&self, path: &str) -> bool {
        let own = self
            .signed_on
            .as_ref()
            .and_then(|signed| signed.context.paths.as_ref());
        own.is_none_or(|own| own.iter().any(|place| is_beneath(path, place)))
    }

    /// The scopes with which a new token would have the permission: those of this token, and the smallest one that
    /// permits it. `None` if no scope is missing, as when the role lacks the permission.
    pub fn needed_scopes(&self, permission: Permission) -> Option<String> {
        let scopes = &self.signed_on.as_ref()?.context.scopes;
        let mut roles = self.teams.values().chain([&self.role]);
        let has_role = roles.any(|role| role.permissions().contains(permission));
        if self.scopes.contains(permission) || !has_role {
            return None;
        }
        let fitting = scopes.iter().filter(|(_, set)| set.contains(permission));
        let (missing, _) = fitting.min_by_key(|(_, set)| set.iter().count())?;
        let own = scopes.iter().filter(|(_, set)| self.scopes.covers(**set));
        let needed: Vec<&str> = own
            .map(|(scope, _)| scope.as_str())
            .chain([missing.as_str()])
            .collect();
        Some(needed.join(" "))
    }

    /// The same identity by what is stored now: while an answer is sent, the token may expire.
    ///
    /// # Errors
    /// If the user is disabled.
    pub fn renewed(&self, user: &User, memberships: &[Membership]) -> Result<Identity, SignOnRefusal> {
        if user.disabled_ms.is_some() {
            return Err(SignOnRefusal::Disabled);
        }
        Ok(Identity {
            granted: user.role,
            role: user.role,
            teams: teams(user, memberships),
            ..self.clone()
        })
    }
}

/// Whether a path is this place or beneath it.
fn is_beneath(path: &str, place: &str) -> bool {
    let is_within = |place: &str| {
        path.strip_prefix(place)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    // Messages of the older transport go beside its stream.
    let messages = place.strip_suffix("/sse").map(|base| format!("{base}/message"));
    is_within(place) || messages.is_some_and(|messages| is_within(&messages))
}

/// A platform admin sees every team.
fn teams(user: &User, memberships: &[Membership]) -> BTreeMap<TeamId, Role> {
    match user.role {
        Role::PlatformAdmin => BTreeMap::new(),
        _ => own_teams(user, memberships),
    }
}
