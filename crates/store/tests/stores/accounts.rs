//! Users, teams and tokens through `Accounts`: objects, lookups of tokens, and secrets that stay hidden.

mod admins;
mod lists;
mod tokens;

use identity::{
    Grant, Identity, PermissionSet, Role, TokenId, TokenRefusal, TokenSecret, TokenTeams, team_id,
};
use store::accounts::{AccountError, AccountPage, Lookup, Moment, NewToken, TokensOf, UserChange};
use store::{Accounts, Database};
use types::{Principal, TeamId, TenantId};

use crate::places::{Place, actor, in_each};
use crate::{logins, sign_ons};

const ALL: AccountPage<'_> = AccountPage {
    after: None,
    limit: 1000,
};

fn accounts(place: &Place) -> Accounts {
    Accounts::new(place.database.clone())
}

fn acme() -> TenantId {
    TenantId::new("acme")
}

fn user(name: &str) -> Principal {
    identity::user(&acme(), &format!("{name}@example.com")).expect("a user")
}

fn team(id: &str) -> TeamId {
    team_id(id).expect("a team")
}

/// The secret and the id of the token with this number.
fn secret(number: u8) -> (TokenSecret, TokenId) {
    (TokenSecret::new([!number; 32]), TokenId::new([number; 12]))
}

fn grant(name: &str, role: Role, ids: &[&str]) -> Grant {
    Grant {
        owner: user(name),
        name: None,
        role,
        teams: TokenTeams::chosen(role, ids.iter().map(|id| team(id))),
        scopes: None,
        expires_ms: None,
    }
}

async fn create(accounts: &Accounts, number: u8, grant: &Grant) -> Result<identity::ApiToken, AccountError> {
    create_with(accounts, number, grant, None).await
}

async fn create_with(
    accounts: &Accounts,
    number: u8,
    grant: &Grant,
    made_by: Option<&TokenId>,
) -> Result<identity::ApiToken, AccountError> {
    let (secret, id) = secret(number);
    let hash = secret.hash();
    let token = NewToken {
        hash: &hash,
        id: &id,
        grant,
        made_by,
    };
    accounts.by(actor()).create_token(token).await
}

async fn find(accounts: &Accounts, number: u8, moment: Moment) -> Lookup {
    let hash = secret(number).0.hash();
    accounts.find(&hash, moment).await.expect("a lookup")
}

async fn identity_of(accounts: &Accounts, number: u8) -> Identity {
    match find(accounts, number, Moment::Database).await {
        Lookup::Identified(found) => found.identity,
        refused @ Lookup::Refused(_) => panic!("{refused:?}"),
    }
}

async fn refusal(accounts: &Accounts, number: u8) -> Option<TokenRefusal> {
    match find(accounts, number, Moment::Database).await {
        Lookup::Identified(_) => None,
        Lookup::Refused(refused) => Some(refused.refusal),
    }
}

fn said<T: std::fmt::Debug>(done: Result<T, AccountError>) -> String {
    done.map_or_else(|error| error.to_string(), |_| "ok".to_owned())
}

/// Ana, team_admin of team-a and viewer in team-b; Alice, developer in team-a; a platform admin.
async fn people(accounts: &Accounts) {
    for (name, role) in [
        ("ana", Role::TeamAdmin),
        ("alice", Role::Developer),
        ("admin", Role::PlatformAdmin),
    ] {
        accounts
            .by(actor())
            .create_user(&user(name), role)
            .await
            .expect("a user");
    }
    for id in ["team-a", "team-b"] {
        accounts
            .by(actor())
            .create_team(&acme(), &team(id), id)
            .await
            .expect("a team");
    }
    for (id, name, role) in [
        ("team-a", "ana", Role::TeamAdmin),
        ("team-b", "ana", Role::Viewer),
        ("team-a", "alice", Role::Developer),
    ] {
        accounts
            .by(actor())
            .set_member(&team(id), &user(name), role)
            .await
            .expect("a member");
    }
}

#[tokio::test]
async fn reading_creates_no_database() {
    let place = Place::file();
    let accounts = accounts(&place);
    assert_eq!(refusal(&accounts, 1).await, Some(TokenRefusal::Unknown));
    assert_eq!(accounts.users(&acme(), ALL).await, Ok(Vec::new()));
    assert_eq!(accounts.user(&user("ana")).await, Ok(None));
    assert!(!place.database.file().expect("a file").exists());
}

#[tokio::test]
async fn a_token_leads_to_its_owner_as_of_now() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let both = grant("ana", Role::TeamAdmin, &["team-a", "team-b"]);
        create(&accounts, 1, &both).await.expect("a token");
        let shown = async || {
            let one = identity_of(&accounts, 1).await;
            let ids: Vec<String> = one.teams().map(ToString::to_string).collect();
            let administered: Vec<String> = one.administered_teams().map(ToString::to_string).collect();
            format!("{one}: {} / {}", ids.join(" "), administered.join(" "))
        };
        assert_eq!(
            shown().await,
            "acme/ana@example.com (team_admin): team-a team-b / team-a"
        );
        accounts
            .by(actor())
            .set_member(&team("team-b"), &user("ana"), Role::TeamAdmin)
            .await
            .expect("changed");
        assert_eq!(
            shown().await,
            "acme/ana@example.com (team_admin): team-a team-b / team-a team-b"
        );
        assert_eq!(
            accounts
                .by(actor())
                .remove_member(&team("team-a"), &user("ana"))
                .await,
            Ok(true)
        );
        assert_eq!(
            accounts
                .by(actor())
                .remove_member(&team("team-a"), &user("ana"))
                .await,
            Ok(false)
        );
        assert_eq!(
            shown().await,
            "acme/ana@example.com (team_admin): team-b / team-b"
        );
        assert_eq!(
            accounts.by(actor()).delete_team(&acme(), &team("team-b")).await,
            Ok(true)
        );
        assert_eq!(
            accounts.by(actor()).delete_team(&acme(), &team("team-b")).await,
            Ok(false)
        );
        let demoted = UserChange {
            role: Some(Role::Viewer),
            disabled: None,
        };
        accounts
            .by(actor())
            .change_user(&user("ana"), demoted)
            .await
            .expect("changed");
        assert_eq!(shown().await, "acme/ana@example.com (viewer):  / ");
        let disabled = |disabled| UserChange {
            role: None,
            disabled: Some(disabled),
        };
        accounts
            .by(actor())
            .change_user(&user("ana"), disabled(true))
            .await
            .expect("changed");
        assert_eq!(refusal(&accounts, 1).await, Some(TokenRefusal::UserDisabled));
        let again = accounts
            .by(actor())
            .change_user(&user("ana"), disabled(false))
            .await
            .expect("changed");
        assert_eq!((again.role, again.disabled_ms), (Role::Viewer, None));
        assert_eq!(refusal(&accounts, 1).await, None);
        assert_eq!(accounts.by(actor()).delete_user(&user("ana")).await, Ok(true));
        assert_eq!(accounts.by(actor()).delete_user(&user("ana")).await, Ok(false));
        assert_eq!(refusal(&accounts, 1).await, Some(TokenRefusal::Unknown));
    })
    .await;
}

#[tokio::test]
async fn errors_name_the_object_and_leave_the_connection_usable() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let created = said(accounts.by(actor()).create_user(&user("ana"), Role::Viewer).await);
        assert_eq!(created, "user 'ana@example.com' exists already");
        let created = said(
            accounts
                .by(actor())
                .create_team(&acme(), &team("team-a"), "A")
                .await,
        );
        assert_eq!(created, "team 'team-a' exists already");
        let named = said(
            accounts
                .by(actor())
                .create_team(&acme(), &team("team-c"), "a\nb")
                .await,
        );
        assert_eq!(named, "name: expected 1 to 100 visible characters, got 'a\\nb'");
        let odd = said(
            accounts
                .by(actor())
                .create_team(&acme(), &TeamId::new("A B"), "A")
                .await,
        );
        assert!(odd.starts_with("team: an id is 1 to 64 of a-z"), "{odd}");
        let set = async |id: &str, name: &str, role| {
            said(
                accounts
                    .by(actor())
                    .set_member(&team(id), &user(name), role)
                    .await,
            )
        };
        assert_eq!(set("team-z", "ana", Role::Viewer).await, "unknown team 'team-z'");
        assert_eq!(
            set("team-a", "zoe", Role::Viewer).await,
            "unknown user 'zoe@example.com'"
        );
        let not = set("team-a", "ana", Role::PlatformAdmin).await;
        assert!(
            not.starts_with("role: 'platform_admin' is not a role of a team"),
            "{not}"
        );
        let renamed = said(
            accounts
                .by(actor())
                .rename_team(&acme(), &team("team-z"), "Z")
                .await,
        );
        assert_eq!(renamed, "unknown team 'team-z'");
        let changed = said(
            accounts
                .by(actor())
                .change_user(&user("zoe"), UserChange::default())
                .await,
        );
        assert_eq!(changed, "unknown user 'zoe@example.com'");

        let check = async |grant: &Grant, expected: &str| {
            assert_eq!(said(create(&accounts, 9, grant).await), expected);
            assert_eq!(refusal(&accounts, 9).await, Some(TokenRefusal::Unknown));
        };
        check(&grant("zoe", Role::Viewer, &[]), "unknown user 'zoe@example.com'").await;
        let not_member =
            "teams: 'alice@example.com' is not a member of team 'team-b'; make the user a member first";
        check(&grant("alice", Role::Viewer, &["team-a", "team-b"]), not_member).await;
        check(
            &grant("admin", Role::Developer, &["team-z"]),
            "unknown team 'team-z'",
        )
        .await;
        let past = Grant {
            expires_ms: Some(1),
            ..grant("alice", Role::Viewer, &[])
        };
        check(
            &past,
            "expires: the time is past; name a later time, or leave `expires` out",
        )
        .await;
        let empty = Grant {
            scopes: Some(PermissionSet::NONE),
            ..grant("alice", Role::Viewer, &[])
        };
        let told =
            "scopes: the list is empty; name a permission, or leave `scopes` out for all of the role's";
        check(&empty, told).await;
        let absent = create_with(
            &accounts,
            9,
            &grant("alice", Role::Viewer, &[]),
            Some(&secret(8).1),
        )
        .await;
        assert_eq!(
            said(absent),
            "the token in use is no longer valid; use another token"
        );
        create(&accounts, 9, &grant("admin", Role::Developer, &["team-a"]))
            .await
            .expect("a token");
    })
    .await;
}

#[tokio::test]
async fn nothing_crosses_tenants() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let other = TenantId::new("other");
        let foreign = identity::user(&other, "ana@example.com").expect("a user");
        create(&accounts, 1, &grant("ana", Role::TeamAdmin, &["team-a"]))
            .await
            .expect("a token");
        let id = secret(1).1;
        assert_eq!(accounts.user(&foreign).await, Ok(None));
        assert_eq!(accounts.users(&other, ALL).await, Ok(Vec::new()));
        assert_eq!(accounts.teams(&other, ALL).await, Ok(Vec::new()));
        assert_eq!(accounts.team(&other, &team("team-a")).await, Ok(None));
        assert_eq!(
            accounts.members(&other, &team("team-a"), ALL).await,
            Ok(Vec::new())
        );
        assert_eq!(accounts.token(&other, &id).await, Ok(None));
        assert_eq!(accounts.by(actor()).revoke_token(&other, &id).await, Ok(None));
        assert_eq!(
            accounts.by(actor()).delete_team(&other, &team("team-a")).await,
            Ok(false)
        );
        assert_eq!(accounts.by(actor()).delete_user(&foreign).await, Ok(false));
        accounts
            .by(actor())
            .create_user(&foreign, Role::PlatformAdmin)
            .await
            .expect("another user");
        let joined = said(
            accounts
                .by(actor())
                .set_member(&team("team-a"), &foreign, Role::Viewer)
                .await,
        );
        assert_eq!(joined, "unknown team 'team-a'");
        let grant = Grant {
            owner: foreign.clone(),
            ..grant("ana", Role::TeamAdmin, &["team-a"])
        };
        assert_eq!(said(create(&accounts, 2, &grant).await), "unknown team 'team-a'");
        let without = Grant {
            teams: TokenTeams::chosen(Role::Viewer, []),
            ..grant
        };
        let made = create_with(&accounts, 2, &without, Some(&id)).await;
        assert_eq!(
            said(made),
            "the token in use is no longer valid; use another token"
        );
        assert_eq!(refusal(&accounts, 1).await, None);
        assert_eq!(accounts.by(actor()).delete_user(&foreign).await, Ok(true));
        assert_eq!(refusal(&accounts, 1).await, None);
    })
    .await;
}

#[tokio::test]
async fn two_connections_see_each_other_s_changes() {
    in_each(async |place| {
        let (one, other) = (accounts(place), accounts(place));
        people(&one).await;
        create(&one, 1, &grant("alice", Role::Developer, &["team-a"]))
            .await
            .expect("a token");
        assert_eq!(refusal(&other, 1).await, None);
        other
            .by(actor())
            .revoke_token(&acme(), &secret(1).1)
            .await
            .expect("revoked");
        assert_eq!(refusal(&one, 1).await, Some(TokenRefusal::Revoked));
        one.close().await;
        assert_eq!(refusal(&one, 1).await, Some(TokenRefusal::Revoked));
    })
    .await;
}

#[tokio::test]
async fn concurrent_and_abandoned_calls_leave_the_connection_usable() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        for number in 10..60_u8 {
            let grant = grant("alice", Role::Developer, &["team-a"]);
            let given_up = create(&accounts, number, &grant);
            // Abandon the work at an arbitrary point.
            let _ = tokio::time::timeout(std::time::Duration::from_micros(u64::from(number) * 20), given_up)
                .await;
        }
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let accounts = accounts.clone();
                tokio::spawn(async move { accounts.users(&acme(), ALL).await.map(|users| users.len()) })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.expect("a task"), Ok(3));
        }
        create(&accounts, 1, &grant("alice", Role::Developer, &["team-a"]))
            .await
            .expect("a token");
        assert_eq!(refusal(&accounts, 1).await, None);
    })
    .await;
}

#[test]
fn calls_may_move_between_threads() {
    fn check<T: Send>(_: T) {}
    let accounts = Accounts::new(Place::file().database);
    let (secret, id) = secret(1);
    let (hash, grant, tenant, team) = (secret.hash(), grant("ana", Role::Viewer, &[]), acme(), team("a"));
    let token = NewToken {
        hash: &hash,
        id: &id,
        grant: &grant,
        made_by: Some(&id),
    };
    check(accounts.by(actor()).create_user(&grant.owner, Role::Viewer));
    check(accounts.by(actor()).set_member(&team, &grant.owner, Role::Viewer));
    check(accounts.members(&tenant, &team, ALL));
    check(accounts.by(actor()).create_token(token));
    check(accounts.tokens(TokensOf::User(&grant.owner), None, 1));
    check(accounts.by(actor()).revoke_token(&tenant, &id));
    check(accounts.find(&hash, Moment::Database));
}

/// The database of a codeyard without users and tokens.
async fn of_an_older_codeyard(place: &Place) -> Database {
    let accounts = accounts(place);
    people(&accounts).await;
    accounts.close().await;
    for index in [
        "runs_of_server",
        "calls_of_tool",
        "failed_calls_of_server",
        "denials_of_server",
        "runs_by_number",
        "calls_by_number",
        "events_by_number",
    ] {
        place.change(&format!("DROP INDEX {index}")).await;
    }
    for table in ["runs", "calls", "events"] {
        for column in ["virtual_server", "writer", "number"] {
            place
                .change(&format!("ALTER TABLE {table} DROP COLUMN {column}"))
                .await;
        }
    }
    place.change("ALTER TABLE processes DROP COLUMN records").await;
    place.change("ALTER TABLE runs DROP COLUMN execution").await;
    place.change("DROP TABLE recordings").await;
    for table in logins::TABLES.into_iter().chain(sign_ons::TABLES).chain([
        "sink_positions",
        "sinks",
        "leased_sessions",
        "session_leases",
        "gateway_processes",
        "audit",
        "audit_head",
        "upstream_changes",
        "upstream_servers",
        "rate_grants",
        "cpu_debts",
        "virtual_servers",
        "tokens",
        "memberships",
        "teams",
        "users",
    ]) {
        place.change(&format!("DROP TABLE {table}")).await;
    }
    let older = match place.database {
        Database::Sqlite(_) => "DELETE FROM _sqlx_migrations WHERE version >= 9",
        Database::Postgres(_) => "UPDATE codeyard SET migrations = 1",
    };
    place.change(older).await;
    place.database.clone()
}

#[tokio::test]
async fn an_older_database_has_no_users_until_one_is_made() {
    in_each(async |place| {
        let accounts = Accounts::new(of_an_older_codeyard(place).await);
        assert_eq!(refusal(&accounts, 1).await, Some(TokenRefusal::Unknown));
        assert_eq!(accounts.users(&acme(), ALL).await, Ok(Vec::new()));
        people(&accounts).await;
        create(&accounts, 1, &grant("alice", Role::Developer, &["team-a"]))
            .await
            .expect("a token");
        assert_eq!(refusal(&accounts, 1).await, None);
    })
    .await;
}
