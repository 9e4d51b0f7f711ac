//! API tokens: expiry, revocation, storage and limits.

use identity::{Grant, PermissionSet, Role, TokenRefusal, TokenTeams};
use store::accounts::{AccountError, Lookup, MAX_TOKENS, Moment, TokensOf};

use super::{
    accounts, acme, create, create_with, find, grant, identity_of, people, refusal, said, secret, user,
};
use crate::places::{Place, actor, in_each};

/// Later than every test.
const LATER: i64 = 32_503_680_000_000;

#[tokio::test]
async fn a_token_is_read_as_it_was_made() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let check = async |number: u8, grant: Grant| {
            let made = create(&accounts, number, &grant).await.expect("a token");
            assert_eq!(made.grant, grant);
            assert_eq!(
                (made.revoked_ms, made.last_used_ms, &made.made_by),
                (None, None, &None)
            );
            let listed = accounts
                .tokens(TokensOf::User(&grant.owner), None, 100)
                .await
                .expect("listed");
            assert!(listed.contains(&made), "{listed:?}");
            assert_eq!(accounts.token(&acme(), &made.id).await, Ok(Some(made)));
        };
        check(1, grant("ana", Role::TeamAdmin, &["team-a", "team-b"])).await;
        check(2, grant("ana", Role::Viewer, &[])).await;
        check(3, grant("admin", Role::PlatformAdmin, &[])).await;
        let full = Grant {
            name: Some("CI of 'main' \u{e9}".to_owned()),
            scopes: Some(PermissionSet::read("servers.use skills.read").expect("permissions")),
            expires_ms: Some(LATER),
            ..grant("alice", Role::Developer, &["team-a"])
        };
        check(4, full).await;
        let own = identity_of(&accounts, 4).await;
        assert_eq!(own.permissions().to_string(), "servers.use skills.read");
        assert_eq!((own.expires_ms(), own.token()), (Some(LATER), &secret(4).1));
        assert!(identity_of(&accounts, 3).await.is_unrestricted());
    })
    .await;
}

#[tokio::test]
async fn a_token_expires_by_the_selected_clock() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let ending = Grant {
            expires_ms: Some(LATER),
            ..grant("alice", Role::Developer, &[])
        };
        create(&accounts, 1, &ending).await.expect("a token");
        let check = async |moment: Moment, expected: Option<TokenRefusal>| {
            let refusal = match find(&accounts, 1, moment).await {
                Lookup::Identified(_) => None,
                Lookup::Refused(refused) => {
                    assert_eq!(refused.token, Some((secret(1).1, user("alice"))));
                    Some(refused.refusal)
                }
            };
            assert_eq!(refusal, expected, "{moment:?}");
        };
        check(Moment::Database, None).await;
        check(Moment::At(LATER - 1), None).await;
        check(Moment::At(LATER), Some(TokenRefusal::Expired)).await;
        check(Moment::At(i64::MAX), Some(TokenRefusal::Expired)).await;
        // A clock that jumps back.
        check(Moment::At(0), None).await;
        check(Moment::At(i64::MIN), None).await;
        place.change("UPDATE tokens SET expires_ms = 1000").await;
        check(Moment::Database, Some(TokenRefusal::Expired)).await;
        assert!(matches!(find(&accounts, 2, Moment::At(0)).await, Lookup::Refused(refused) if refused.token.is_none()));
    })
    .await;
}

#[tokio::test]
async fn revoking_a_token_revokes_tokens_that_its_owner_created_with_it() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let own = grant("admin", Role::PlatformAdmin, &[]);
        let others = grant("alice", Role::Developer, &["team-a"]);
        create(&accounts, 1, &own).await.expect("a token");
        create_with(&accounts, 2, &own, Some(&secret(1).1))
            .await
            .expect("a child");
        create_with(&accounts, 3, &own, Some(&secret(2).1))
            .await
            .expect("a grandchild");
        create_with(&accounts, 4, &others, Some(&secret(1).1))
            .await
            .expect("another's");
        create_with(&accounts, 5, &others, Some(&secret(4).1))
            .await
            .expect("another's child");
        create(&accounts, 6, &own).await.expect("a token");
        let valid = async || {
            let mut valid = Vec::new();
            for number in 1..=6 {
                if refusal(&accounts, number).await.is_none() {
                    valid.push(number);
                }
            }
            valid
        };
        assert_eq!(valid().await, [1, 2, 3, 4, 5, 6]);
        accounts
            .by(actor())
            .revoke_token(&acme(), &secret(3).1)
            .await
            .expect("revoked");
        assert_eq!(valid().await, [1, 2, 4, 5, 6]);
        let first = accounts
            .by(actor())
            .revoke_token(&acme(), &secret(1).1)
            .await
            .expect("revoked")
            .expect("a token");
        assert_eq!(valid().await, [4, 5, 6]);
        assert!(first.revoked_ms.is_some());
        assert_eq!(
            accounts.by(actor()).revoke_token(&acme(), &secret(1).1).await,
            Ok(Some(first))
        );
        assert_eq!(
            accounts.by(actor()).revoke_token(&acme(), &secret(9).1).await,
            Ok(None)
        );
        assert_eq!(refusal(&accounts, 1).await, Some(TokenRefusal::Revoked));
        let late = create_with(&accounts, 7, &own, Some(&secret(1).1)).await;
        assert_eq!(
            said(late),
            "the token in use is no longer valid; use another token"
        );
    })
    .await;
}

#[tokio::test]
async fn a_token_that_is_being_revoked_creates_no_token() {
    in_each(async |place| {
        let (one, other) = (accounts(place), accounts(place));
        people(&one).await;
        let own = grant("alice", Role::Developer, &["team-a"]);
        create(&one, 1, &own).await.expect("a token");
        let making = async {
            let mut made = Vec::new();
            for number in 2..30 {
                match create_with(&one, number, &own, Some(&secret(1).1)).await {
                    Ok(_) => made.push(number),
                    Err(error) => assert_eq!(error, AccountError::MakerRevoked),
                }
            }
            made
        };
        let revoking = async {
            while refusal(&other, 5).await == Some(TokenRefusal::Unknown) {
                tokio::task::yield_now().await;
            }
            other
                .by(actor())
                .revoke_token(&acme(), &secret(1).1)
                .await
                .expect("revoked");
        };
        let (made, ()) = tokio::join!(making, revoking);
        assert!(made.contains(&5), "{made:?}");
        for number in made {
            assert_eq!(
                refusal(&one, number).await,
                Some(TokenRefusal::Revoked),
                "{number}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn neither_a_token_nor_a_hash_is_shown() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let made = create(&accounts, 7, &grant("alice", Role::Developer, &["team-a"]))
            .await
            .expect("a token");
        let listed = accounts
            .tokens(TokensOf::Tenant(&acme()), None, 10)
            .await
            .expect("listed");
        let (secret, _) = secret(7);
        let shown = format!(
            "{made:?} {listed:?} {:?}",
            find(&accounts, 7, Moment::Database).await
        );
        for hidden in [secret.reveal(), secret.hash().to_hex()] {
            assert!(
                !shown.contains(&hidden) && !shown.contains(&hidden[4..20]),
                "{shown}"
            );
        }
        place.change("UPDATE tokens SET hash = 'damaged'").await;
        assert_eq!(refusal(&accounts, 7).await, Some(TokenRefusal::Unknown));
    })
    .await;
}

#[tokio::test]
async fn the_file_holds_the_hash_alone() {
    let place = Place::file();
    let accounts = accounts(&place);
    people(&accounts).await;
    create(&accounts, 7, &grant("alice", Role::Developer, &["team-a"]))
        .await
        .expect("a token");
    accounts.close().await;
    let bytes = std::fs::read(place.database.file().expect("a file")).expect("bytes");
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let (secret, _) = secret(7);
    assert!(holds(&secret.hash().to_hex()));
    assert!(!holds(&secret.reveal()) && !holds(&secret.reveal()[4..]));
}

#[tokio::test]
async fn a_use_is_noted_once_a_minute() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        create(&accounts, 1, &grant("alice", Role::Developer, &[]))
            .await
            .expect("a token");
        let own = identity_of(&accounts, 1).await;
        let check = async |at: i64, noted: i64| {
            accounts.note_use(&own, Moment::At(at)).await.expect("noted");
            let token = accounts
                .token(&acme(), own.token())
                .await
                .expect("a look")
                .expect("a token");
            assert_eq!(token.last_used_ms, Some(noted), "{at}");
        };
        let due = async |at: i64| match find(&accounts, 1, Moment::At(at)).await {
            Lookup::Identified(found) => found.is_use_due,
            refused @ Lookup::Refused(_) => panic!("{refused:?}"),
        };
        assert!(due(0).await);
        check(1_000_000, 1_000_000).await;
        assert!(!due(1_059_999).await && due(1_060_000).await && !due(i64::MIN).await);
        check(1_059_999, 1_000_000).await;
        check(1_060_000, 1_060_000).await;
        check(5, 1_060_000).await;
        accounts.note_use(&own, Moment::Database).await.expect("noted");
        let token = accounts
            .token(&acme(), own.token())
            .await
            .expect("a look")
            .expect("a token");
        assert!(token.last_used_ms.is_some_and(|used| used >= token.created_ms));
    })
    .await;
}

#[tokio::test]
async fn new_tokens_replace_invalid_tokens_only() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let fill = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MAX_TOKENS}) \
             INSERT INTO tokens (hash, id, tenant, email, role, teams, created_ms) \
             SELECT 'h' || i, 'i' || i, 'acme', 'alice@example.com', 'viewer', '', i FROM n"
        );
        place.change(&fill).await;
        let viewer = grant("alice", Role::Viewer, &[]);
        let full = "the user has 1000 tokens and 1000 are allowed; revoke an unused token";
        assert_eq!(said(create(&accounts, 1, &viewer).await), full);
        create(&accounts, 2, &grant("ana", Role::Viewer, &[]))
            .await
            .expect("another's room");
        place
            .change("UPDATE tokens SET revoked_ms = 1 WHERE id IN ('i7', 'i8')")
            .await;
        place
            .change("UPDATE tokens SET expires_ms = 1 WHERE id = 'i9'")
            .await;
        for number in 3..6 {
            create(&accounts, number, &viewer).await.expect("room");
        }
        assert_eq!(said(create(&accounts, 6, &viewer).await), full);
    })
    .await;
}

#[tokio::test]
async fn a_demoted_admin_keeps_only_what_is_their_own() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        let whole = grant("admin", Role::PlatformAdmin, &[]);
        assert_eq!(whole.teams, TokenTeams::Unrestricted);
        create(&accounts, 1, &whole).await.expect("a token");
        assert!(identity_of(&accounts, 1).await.is_unrestricted());
        let demoted = store::accounts::UserChange {
            role: Some(Role::Developer),
            disabled: None,
        };
        accounts
            .by(actor())
            .change_user(&user("admin"), demoted)
            .await
            .expect("changed");
        let own = identity_of(&accounts, 1).await;
        assert!(!own.is_unrestricted() && own.teams().next().is_none());
        accounts
            .by(actor())
            .set_member(&super::team("team-a"), &user("admin"), Role::Developer)
            .await
            .expect("a member");
        assert_eq!(identity_of(&accounts, 1).await.teams().count(), 1);
    })
    .await;
}
