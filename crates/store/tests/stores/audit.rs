//! The audit table through `Audit`, `Accounts` and `VirtualServers`: each change has a row, and the chain is valid.

use identity::{AuditAction, Grant, Role, TokenId, TokenSecret, TokenTeams, team_id};
use proptest::prelude::*;
use store::accounts::{NewToken, UserChange};
use store::audit::{
    AuditActor, AuditExpectation, AuditFilter, AuditRow, BadChain, COMMAND_LINE, RefusedAct, VerifiedChain,
    VerifyError,
};
use store::{Accounts, Audit, Database, VirtualServers};
use types::{Principal, TenantId};

use crate::places::{Place, actor, in_each};
use crate::virtual_servers;

fn acme() -> TenantId {
    TenantId::new("acme")
}

fn user(name: &str) -> Principal {
    identity::user(&acme(), &format!("{name}@example.com")).expect("a user")
}

fn audit(database: &Database) -> Audit {
    Audit::new(database.clone())
}

/// All rows of the tenant, oldest first.
async fn rows(audit: &Audit) -> Vec<AuditRow> {
    let filter = AuditFilter {
        limit: 1000,
        ..AuditFilter::default()
    };
    let mut rows = audit.list(&acme(), &filter).await.expect("rows");
    rows.reverse();
    rows
}

/// Action, object, outcome and detail of each row.
async fn told(audit: &Audit) -> Vec<String> {
    let rows = rows(audit).await;
    let told = rows.iter().map(|row| {
        let AuditRow {
            action,
            object_id,
            outcome,
            detail,
            ..
        } = row;
        format!("{action} {object_id} {outcome}: {detail}")
    });
    told.collect()
}

async fn users(database: &Database, names: &[&str]) {
    let accounts = Accounts::new(database.clone());
    for name in names {
        accounts
            .by(actor())
            .create_user(&user(name), Role::Viewer)
            .await
            .expect("a user");
    }
    accounts.close().await;
}

async fn verified(audit: &Audit) -> VerifiedChain {
    audit.verify(None).await.expect("a whole chain")
}

async fn broken(database: &Database, expected: Option<&str>) -> String {
    let expected = expected.map(|text| text.parse::<AuditExpectation>().expect("a head"));
    match audit(database).verify(expected.as_ref()).await {
        Err(VerifyError::Broken(why)) => why.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_change_has_one_row_and_a_refused_one_none() {
    in_each(async |place| {
        let accounts = Accounts::new(place.database.clone());
        let by = accounts.by(actor());
        let (ana, team) = (user("ana"), team_id("team-a").expect("a team"));
        by.create_user(&ana, Role::TeamAdmin).await.expect("a user");
        by.create_user(&ana, Role::Viewer).await.expect_err("taken");
        by.create_team(&acme(), &team, "The A").await.expect("a team");
        by.rename_team(&acme(), &team, "A").await.expect("renamed");
        by.set_member(&team, &ana, Role::Developer)
            .await
            .expect("a member");
        let (secret, id) = (TokenSecret::new([1; 32]), TokenId::new([1; 12]));
        let grant = Grant {
            owner: ana.clone(),
            name: Some("laptop".to_owned()),
            role: Role::Developer,
            teams: TokenTeams::Only([team.clone()].into()),
            scopes: None,
            expires_ms: None,
        };
        let token = NewToken {
            hash: &secret.hash(),
            id: &id,
            grant: &grant,
            made_by: None,
        };
        by.create_token(token).await.expect("a token");
        for _ in 0..2 {
            by.revoke_token(&acme(), &id).await.expect("revoked");
        }
        let disabled = UserChange {
            role: Some(Role::Viewer),
            disabled: Some(true),
        };
        by.change_user(&ana, disabled).await.expect("changed");
        by.remove_member(&team, &ana).await.expect("removed");
        by.remove_member(&team, &ana).await.expect("no member");
        by.delete_user_keeping_admin(&ana).await.expect("removed");
        by.delete_team(&acme(), &team).await.expect("removed");
        let servers = VirtualServers::new(place.database.clone());
        let server = virtual_servers::server("a");
        servers.by(actor()).create(&server).await.expect("a server");
        servers.by(actor()).update(&server, 1000).await.expect("changed");
        servers
            .by(actor())
            .update(&server, 1)
            .await
            .expect_err("changed meanwhile");
        servers
            .by(actor())
            .delete(&acme(), &server.id)
            .await
            .expect("removed");
        let audit = audit(&place.database);
        let expected = [
            "user.create ana@example.com done: role team_admin".to_owned(),
            "team.create team-a done: The A".to_owned(),
            "team.update team-a done: A".to_owned(),
            "member.set team-a/ana@example.com done: role developer".to_owned(),
            format!("token.create {id} done: of ana@example.com: role developer, teams team-a"),
            format!("token.revoke {id} done: of ana@example.com"),
            format!("token.revoke {id} done: of ana@example.com: revoked before"),
            "user.update ana@example.com done: role viewer, disabled".to_owned(),
            "member.remove team-a/ana@example.com done: ".to_owned(),
            "user.delete ana@example.com done: ".to_owned(),
            "team.delete team-a done: ".to_owned(),
            "server.create a done: a: standard, public".to_owned(),
            "server.update a done: a: standard, public".to_owned(),
            "server.delete a done: ".to_owned(),
        ];
        assert_eq!(told(&audit).await, expected);
        let rows = rows(&audit).await;
        assert!(
            rows.iter()
                .all(|row| row.actor == COMMAND_LINE && row.token.is_empty())
        );
        let last = rows.last().expect("a row");
        let chain = verified(&audit).await;
        assert_eq!((chain.rows, chain.head.as_str()), (14, last.hash.as_str()));
    })
    .await;
}

#[tokio::test]
async fn lists_have_filters_and_pages_and_hold_no_token() {
    in_each(async |place| {
        users(&place.database, &["a", "b", "c"]).await;
        let audit = audit(&place.database);
        let token = TokenSecret::new([7; 32]).reveal();
        let act = RefusedAct::with_status(AuditAction::TokenRevoke, &acme(), &token, (404, "a\0b"));
        audit.refused(actor(), act).await.expect("appended");
        let ids = async |filter: AuditFilter| -> Vec<i64> {
            let found = audit.list(&acme(), &AuditFilter { limit: 2, ..filter }).await;
            found.expect("rows").iter().map(|row| row.sequence).collect()
        };
        let all = AuditFilter::default();
        assert_eq!(ids(all.clone()).await, [4, 3]);
        let before = |before| AuditFilter {
            before: Some(before),
            ..all.clone()
        };
        assert_eq!(ids(before(3)).await, [2, 1]);
        let action = |action: &str| AuditFilter {
            action: Some(action.to_owned()),
            ..all.clone()
        };
        assert_eq!(ids(action("token.revoke")).await, [4]);
        assert_eq!(ids(action("team.create")).await, [0; 0]);
        let of = |actor: &str| AuditFilter {
            actor: Some(actor.to_owned()),
            ..all.clone()
        };
        assert_eq!(ids(of(COMMAND_LINE)).await, [4, 3]);
        assert_eq!(ids(of("ana@example.com")).await, [0; 0]);
        let rows = rows(&audit).await;
        let time = rows[3].at_ms;
        let until = AuditFilter {
            until_ms: Some(time + 1),
            from_ms: Some(time),
            ..all.clone()
        };
        assert_eq!(ids(until).await.first(), Some(&4));
        let later = AuditFilter {
            from_ms: Some(time + 60_000),
            ..all.clone()
        };
        assert_eq!(ids(later).await, [0; 0]);
        assert_eq!(told(&audit).await[3], "token.revoke cyd_\u{2026} 404: a\u{fffd}b");
        let foreign = audit.list(&TenantId::new("other"), &all).await;
        assert_eq!(foreign, Ok(Vec::new()));
        verified(&audit).await;
    })
    .await;
}

/// Manipulations of the database, and the reported defect.
const TAMPERED: [(&str, &str); 9] = [
    (
        "UPDATE audit SET detail = 'role viewer!' WHERE sequence = 2",
        "row 2 was changed",
    ),
    (
        "UPDATE audit SET at_ms = at_ms + 1 WHERE sequence = 4",
        "row 4 was changed",
    ),
    ("DELETE FROM audit WHERE sequence = 3", "row 3 is missing"),
    ("DELETE FROM audit WHERE sequence = 1", "row 1 is missing"),
    (
        "DELETE FROM audit WHERE sequence = 4",
        "the chain ends with row 3, but had 4 rows",
    ),
    (
        "INSERT INTO audit SELECT 5, at_ms, tenant, actor, token, action, object, object_id, outcome, detail, previous, \
         hash FROM audit WHERE sequence = 4",
        "row 5 is outside of the chain",
    ),
    (
        "INSERT INTO audit SELECT -5, at_ms, tenant, actor, token, action, object, object_id, outcome, detail, previous, \
         hash FROM audit WHERE sequence = 4",
        "row -5 is outside of the chain",
    ),
    (
        "UPDATE audit SET sequence = 14 WHERE sequence = 4",
        "row 5 is outside of the chain",
    ),
    ("DELETE FROM audit_head", "row 1 is outside of the chain"),
];

#[tokio::test]
async fn tampering_is_found_and_named() {
    in_each(async |place| {
        users(&place.database, &["first"]).await;
        for (sql, expected) in TAMPERED {
            place.change("DELETE FROM audit").await;
            place.change("DELETE FROM audit_head").await;
            place.change("DELETE FROM users").await;
            users(&place.database, &["a", "b", "c", "d"]).await;
            place.change(sql).await;
            let found = broken(&place.database, None).await;
            assert!(found.starts_with(expected), "{sql}: {found}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_noted_head_finds_a_chain_that_was_cut_off_or_rewritten() {
    in_each(async |place| {
        users(&place.database, &["a", "b", "c"]).await;
        let audit_of_all = audit(&place.database);
        let chain = verified(&audit_of_all).await;
        let noted = format!("{}:{}", chain.rows, chain.head);
        let expected: AuditExpectation = noted.parse().expect("a head");
        users(&place.database, &["d"]).await;
        let later = audit_of_all.verify(Some(&expected)).await.expect("a whole chain");
        assert_eq!(later.rows, 4);
        // Remove the tail and every trace of the tail in the database.
        place.change("DELETE FROM audit WHERE sequence > 2").await;
        place
            .change("UPDATE audit_head SET sequence = 2, hash = (SELECT hash FROM audit WHERE sequence = 2)")
            .await;
        assert_eq!(verified(&audit_of_all).await.rows, 2);
        let cut = broken(&place.database, Some(&noted)).await;
        assert!(
            cut.starts_with("the chain ends with row 2, but had 3 rows"),
            "{cut}"
        );
        // Another chain of the same length.
        place.change("DELETE FROM users").await;
        users(&place.database, &["x", "y"]).await;
        assert_eq!(verified(&audit_of_all).await.rows, 4);
        let rewritten = broken(&place.database, Some(&noted)).await;
        assert_eq!(rewritten, BadChain::Rewritten(3).to_string());
    })
    .await;
}

#[tokio::test]
async fn processes_that_append_at_once_leave_one_chain() {
    in_each(async |place| {
        users(&place.database, &["first"]).await;
        let append = async |process: usize| {
            let audit = audit(&place.database);
            for number in 0..15 {
                let name = format!("u{process}x{number}");
                users(&place.database, &[&name]).await;
                let act = RefusedAct::with_status(AuditAction::UserCreate, &acme(), &name, (409, ""));
                audit.refused(actor(), act).await.expect("appended");
            }
        };
        tokio::join!(append(0), append(1), append(2));
        let audit = audit(&place.database);
        assert_eq!(verified(&audit).await.rows, 91);
        let created = told(&audit).await;
        let done = created.iter().filter(|told| told.contains(" done: ")).count();
        assert_eq!(done, 46);
    })
    .await;
}

#[tokio::test]
async fn a_change_without_its_row_does_not_happen() {
    in_each(async |place| {
        users(&place.database, &["a"]).await;
        // The next row cannot be written.
        place.change("INSERT INTO audit SELECT 2, at_ms, tenant, actor, token, action, object, object_id, outcome, detail, \
             previous, hash FROM audit").await;
        let accounts = Accounts::new(place.database.clone());
        let refused = accounts.by(actor()).create_user(&user("b"), Role::Viewer).await;
        assert!(refused.is_err(), "{refused:?}");
        assert_eq!(accounts.user(&user("b")).await, Ok(None));
    })
    .await;
}

#[tokio::test]
async fn a_database_without_the_table_has_an_empty_chain() {
    let place = Place::file();
    let audit = audit(&place.database);
    assert_eq!(audit.exists().await, Ok(false));
    let chain = verified(&audit).await;
    assert_eq!((chain.rows, chain.head.to_string()), (0, "0".repeat(64)));
    assert_eq!(audit.list(&acme(), &AuditFilter::default()).await, Ok(Vec::new()));
    users(&place.database, &["a"]).await;
    assert_eq!(audit.exists().await, Ok(true));
}

#[test]
fn a_noted_head_is_a_number_and_a_hash() {
    let hash = "0f".repeat(32);
    assert!(format!("7:{hash}").parse::<AuditExpectation>().is_ok());
    for wrong in [
        "",
        "7",
        ":",
        &format!("0:{hash}"),
        &format!("x:{hash}"),
        "7:0f",
        &format!("7:{}", "0F".repeat(32)),
    ] {
        let told = wrong.parse::<AuditExpectation>().expect_err(wrong);
        assert!(told.contains("SEQUENCE:HASH"), "{wrong}: {told}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_edit_of_any_column_of_the_file_is_found(
        row in 1..6_i64,
        column in proptest::sample::select(&["at_ms", "tenant", "actor", "token", "action", "object", "object_id",
            "outcome", "detail", "previous", "hash"][..]),
        value in "[a-f0-9]{1,9}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let place = Place::file();
            users(&place.database, &["a", "b", "c", "d", "e"]).await;
            place.change(&format!("UPDATE audit SET {column} = '{value}' WHERE sequence = {row}")).await;
            let found = broken(&place.database, None).await;
            assert!(found.starts_with(&format!("row {row} was changed")), "{column}: {found}");
        });
    }
}

#[test]
fn the_actor_of_the_command_line_is_no_user() {
    assert_eq!(actor(), &AuditActor::command_line());
    assert!(identity::user(&acme(), COMMAND_LINE).is_err());
}
