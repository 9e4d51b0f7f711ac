//! Lists of users, teams, members and tokens, page by page.

use identity::Role;
use store::accounts::{AccountPage, TokenCursor, TokensOf};

use super::{ALL, accounts, acme, create, grant, people, team, user};
use crate::places::{actor, in_each};

#[tokio::test]
async fn lists_are_sorted_and_paged() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        for name in ["zoe", "b-2", "b.1", "b_3"] {
            accounts
                .by(actor())
                .create_user(&user(name), Role::Viewer)
                .await
                .expect("a user");
            accounts
                .by(actor())
                .set_member(&team("team-b"), &user(name), Role::Viewer)
                .await
                .expect("a member");
        }
        let all: Vec<String> = ["admin", "alice", "ana", "b-2", "b.1", "b_3", "zoe"]
            .map(|name| format!("{name}@example.com"))
            .to_vec();
        let mut seen = Vec::new();
        for _ in 0..5 {
            let after: Option<String> = seen.last().cloned();
            let page = AccountPage {
                after: after.as_deref(),
                limit: 2,
            };
            let users = accounts.users(&acme(), page).await.expect("listed");
            seen.extend(users.iter().map(|user| user.principal.user().to_string()));
        }
        assert_eq!(seen, all);
        let members = accounts
            .members(&acme(), &team("team-b"), ALL)
            .await
            .expect("listed");
        let members: Vec<String> = members
            .iter()
            .map(|member| member.user.user().to_string())
            .collect();
        assert_eq!(members, all[2..]);
        let own = accounts.memberships(&user("ana")).await.expect("listed");
        let own: Vec<(&str, Role)> = own.iter().map(|own| (own.team.as_str(), own.role)).collect();
        assert_eq!(own, [("team-a", Role::TeamAdmin), ("team-b", Role::Viewer)]);
        accounts
            .by(actor())
            .rename_team(&acme(), &team("team-b"), "The B")
            .await
            .expect("renamed");
        let teams = accounts.teams(&acme(), ALL).await.expect("listed");
        let teams: Vec<(&str, &str)> = teams
            .iter()
            .map(|team| (team.id.as_str(), team.name.as_str()))
            .collect();
        assert_eq!(teams, [("team-a", "team-a"), ("team-b", "The B")]);
        let one = AccountPage {
            after: None,
            limit: 0,
        };
        assert_eq!(accounts.teams(&acme(), one).await.expect("listed").len(), 1);
    })
    .await;
}

#[tokio::test]
async fn tokens_are_listed_newest_first() {
    in_each(async |place| {
        let accounts = accounts(place);
        people(&accounts).await;
        for number in 1..=6 {
            let name = if number % 2 == 0 { "ana" } else { "alice" };
            create(&accounts, number, &grant(name, Role::Viewer, &["team-a"]))
                .await
                .expect("a token");
        }
        // Tokens of one millisecond are ordered by id.
        place.change("UPDATE tokens SET created_ms = 1000").await;
        place
            .change("UPDATE tokens SET created_ms = 2000 WHERE id LIKE '03%'")
            .await;
        let (tenant, alice) = (acme(), user("alice"));
        let check = async |of: TokensOf<'_>, limit: u32, expected: &[&str]| {
            let (mut seen, mut after) = (Vec::new(), None);
            for _ in 0..7 {
                let page = accounts.tokens(of, after.as_ref(), limit).await.expect("listed");
                assert!(page.len() <= limit as usize);
                after = page.last().map(TokenCursor::after).or(after);
                seen.extend(page.iter().map(|token| token.id.as_str()[..2].to_owned()));
            }
            assert_eq!(seen, expected, "{of:?} {limit}");
        };
        for limit in [1, 2, 100] {
            check(
                TokensOf::Tenant(&tenant),
                limit,
                &["03", "06", "05", "04", "02", "01"],
            )
            .await;
            check(TokensOf::User(&alice), limit, &["03", "05", "01"]).await;
        }
    })
    .await;
}
