//! Tokens and roles that a token may grant: at most its own rights.

use identity::{Grant, Role, TokenTeams};
use types::TenantId;

use crate::people::{Person, admin, alice, ana, grant, scopes, team, teams, user, vic};

fn said<T, E: ToString>(done: Result<T, E>) -> String {
    done.map_or_else(|error| error.to_string(), |_| "ok".to_owned())
}

#[test]
fn nobody_grants_more_than_they_have() {
    let check = |person: &Person, change: fn(&mut Grant), expected: &str| {
        let own = &person.token.grant;
        let mut grant = grant(&person.user.principal, own.role, own.teams.clone());
        change(&mut grant);
        assert_eq!(
            said(person.identity().may_grant(&grant)),
            expected,
            "{}",
            person.user.principal
        );
    };
    check(&alice(), |_| {}, "ok");
    check(&alice(), |grant| grant.role = Role::Viewer, "ok");
    check(&alice(), |grant| grant.scopes = scopes("servers.use"), "ok");
    check(&alice(), |grant| grant.teams = teams(&[]), "ok");
    check(&alice(), |grant| grant.expires_ms = Some(1), "ok");
    let lacking = "role: 'team_admin' allows upstreams.create upstreams.update upstreams.delete skills.approve skills.revoke teams.update, which this token does not; \
        name a smaller role";
    check(&alice(), |grant| grant.role = Role::TeamAdmin, lacking);
    let unknown = "teams: unknown team 'team-b'; name a team of this token";
    check(
        &alice(),
        |grant| grant.teams = teams(&["team-a", "team-b"]),
        unknown,
    );
    let unrestricted =
        "teams: only an unrestricted platform admin makes unrestricted tokens; name teams, or `[]`";
    check(
        &alice(),
        |grant| grant.teams = TokenTeams::Unrestricted,
        unrestricted,
    );
    let other = "user: only an unrestricted platform admin acts for another user; leave `user` out";
    check(&alice(), |grant| grant.owner = user("vic"), other);
    check(&ana(), |grant| grant.owner = user("alice"), other);
    check(&admin(), |grant| grant.owner = user("alice"), "ok");
    let foreign = |grant: &mut Grant| {
        grant.owner = identity::user(&TenantId::new("other"), "alice@example.com").expect("a user");
    };
    check(&admin(), foreign, other);
    check(&admin(), |grant| grant.teams = teams(&["team-z"]), "ok");

    let scoped = alice().scoped("servers.use tokens.create");
    let limited = "scopes: this token is limited to servers.use tokens.create; name some of these";
    check(&scoped, |_| {}, limited);
    check(&scoped, |grant| grant.scopes = scopes("servers.read"), limited);
    check(&scoped, |grant| grant.scopes = scopes("servers.use"), "ok");

    let mut ending = alice();
    ending.token.grant.expires_ms = Some(2_000_000);
    let late =
        "expires: the new token would outlive this one; name a time that is not after this token's end";
    check(&ending, |_| {}, late);
    check(&ending, |grant| grant.expires_ms = Some(2_000_001), late);
    check(&ending, |grant| grant.expires_ms = Some(2_000_000), "ok");

    let mut narrowed = admin();
    narrowed.token.grant.teams = teams(&["team-a"]);
    check(&narrowed, |grant| grant.role = Role::TeamAdmin, "ok");
    let whole = |grant: &mut Grant| {
        grant.role = Role::TeamAdmin;
        grant.teams = TokenTeams::Unrestricted;
    };
    check(&narrowed, whole, unrestricted);
    check(&narrowed, |grant| grant.owner = user("alice"), other);
    let lacking = "role: 'platform_viewer' allows users.read audit.read metrics.read, which this token does not; \
        name a smaller role";
    check(&narrowed, |grant| grant.role = Role::PlatformViewer, lacking);
}

#[test]
fn nobody_appoints_above_themselves() {
    let check = |person: Person, role: Role, id: Option<&str>, expected: &str| {
        let id = id.map(team);
        let told = said(person.identity().may_appoint(role, id.as_ref()));
        assert_eq!(told, expected, "{} {role} {id:?}", person.user.principal);
    };
    let other = "user: only an unrestricted platform admin acts for another user; leave `user` out";
    for role in Role::ALL {
        check(admin(), *role, None, "ok");
        check(ana(), *role, None, other);
    }
    check(ana(), Role::TeamAdmin, Some("team-a"), "ok");
    check(ana(), Role::Viewer, Some("team-a"), "ok");
    check(admin(), Role::TeamAdmin, Some("team-z"), "ok");
    let unknown = "teams: unknown team 'team-b'; name a team of this token";
    check(ana(), Role::Viewer, Some("team-b"), unknown);
    check(alice(), Role::Viewer, Some("team-b"), unknown);
    check(
        alice(),
        Role::Viewer,
        Some("team-a"),
        "teams: unknown team 'team-a'; name a team of this token",
    );
    check(
        vic(),
        Role::Viewer,
        Some("team-a"),
        "teams: unknown team 'team-a'; name a team of this token",
    );
    let not_for_teams =
        "role: 'platform_viewer' is not a role of a team; name 'team_admin', 'developer' or 'viewer'";
    check(admin(), Role::PlatformViewer, Some("team-a"), not_for_teams);
    let lacking = "role: 'viewer' allows servers.read upstreams.read skills.read tokens.read tokens.revoke teams.read, \
        which this token does not; name a smaller role";
    check(
        ana().scoped("teams.update"),
        Role::Viewer,
        Some("team-a"),
        lacking,
    );
    check(admin().scoped("users.create"), Role::Viewer, None, lacking);
}
