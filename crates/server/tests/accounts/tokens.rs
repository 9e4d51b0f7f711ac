//! Tokens over REST: shown once, never stronger than the token in use, and gone once revoked.

use identity::{Grant, PermissionSet, Role, TokenTeams};
use serde_json::{Value, json};

use crate::gateway::{Gateway, grant};

/// Milliseconds in the year 2096.
const FAR: i64 = 4_000_000_000_000;

#[tokio::test]
async fn a_token_is_shown_once_is_valid_and_ends_when_it_is_revoked() {
    let gateway = Gateway::new().await;
    let ann = gateway.person("ann", Role::Developer, &["team-a"]).await;
    let body = json!({
        "name": "CI", "role": "developer", "teams": ["team-a"], "scopes": ["servers.read", "tokens.create"],
        "expires": "2096-10-02T07:06:40Z",
    });
    let made = gateway.ask(&ann, "POST /tokens", body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let (secret, details) = (made.body["token"].as_str().unwrap(), &made.body["details"]);
    assert!(gateway.admits(secret).await);
    let expected = json!({
        "user": "ann@example.com", "name": "CI", "role": "developer", "teams": ["team-a"],
        "scopes": ["servers.read", "tokens.create"], "expires": "2096-10-02T07:06:40.000Z", "revokedAt": null,
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&details[name], value, "{name}");
    }
    let listed = gateway.get(&ann, "GET /tokens").await;
    assert_eq!(listed.each("tokens", "user"), ["ann@example.com"; 2]);
    assert!(!listed.body.to_string().contains("cyd_"), "{listed:?}");
    let first = listed.body["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["madeBy"].is_null());
    let maker = first.unwrap()["id"].clone();
    assert_eq!(details["madeBy"], maker);

    let id = details["id"].as_str().unwrap();
    for _ in 0..2 {
        let revoked = gateway.get(&ann, &format!("DELETE /tokens/{id}")).await;
        assert_eq!(revoked.status, 200, "{revoked:?}");
        assert!(revoked.body["revokedAt"].is_string(), "{revoked:?}");
        assert!(!gateway.admits(secret).await);
    }
}

#[tokio::test]
async fn whoever_revokes_a_token_ends_those_that_were_made_with_it() {
    let gateway = Gateway::new().await;
    let ann = gateway.person("ann", Role::Developer, &[]).await;
    let admin = gateway.person("root", Role::PlatformAdmin, &[]).await;
    let made = gateway
        .ask(&ann, "POST /tokens", json!({"role": "developer"}))
        .await;
    let child = made.body["token"].as_str().unwrap().to_owned();
    let maker = made.body["details"]["madeBy"].as_str().unwrap().to_owned();
    let revoked = gateway.get(&admin, &format!("DELETE /tokens/{maker}")).await;
    assert_eq!(revoked.status, 200);
    assert!(!gateway.admits(&ann).await && !gateway.admits(&child).await);
}

#[tokio::test]
async fn unknown_and_foreign_tokens_and_users_look_alike() {
    let gateway = Gateway::new().await;
    let ann = gateway.person("ann", Role::TeamAdmin, &["team-a"]).await;
    let bob = gateway.person("bob", Role::Developer, &["team-a"]).await;
    let (_, of_bob) = gateway.token(&grant("bob", Role::Developer, &[])).await;
    for id in [of_bob.as_str(), &"0".repeat(24), "x", "%' OR 1=1 --"] {
        let answer = gateway.get(&ann, &format!("DELETE /tokens/{id}")).await;
        assert_eq!(answer.told(), (404, "Token not found"), "{id}");
    }
    assert!(gateway.admits(&bob).await);
    for name in ["bob@example.com", "nobody@example.com"] {
        let answer = gateway.get(&ann, &format!("GET /tokens?user={name}")).await;
        assert_eq!(
            (answer.status, answer.body),
            (200, json!({"tokens": [], "nextCursor": null})),
            "{name}"
        );
        let body = json!({"role": "viewer", "user": name});
        let answer = gateway.ask(&ann, "POST /tokens", body).await;
        let told = "user: only an unrestricted platform admin acts for another user; leave `user` out";
        assert_eq!(answer.told(), (422, told), "{name}");
    }
    let admin = gateway.person("root", Role::PlatformAdmin, &[]).await;
    let all = gateway.get(&admin, "GET /tokens").await;
    assert_eq!(all.each("tokens", "user").len(), 4);
    let of_bob = gateway.get(&admin, "GET /tokens?user=Bob@example.com").await;
    assert_eq!(of_bob.each("tokens", "user"), ["bob@example.com"; 2]);
    let body = json!({"role": "viewer", "user": "nobody@example.com"});
    let answer = gateway.ask(&admin, "POST /tokens", body).await;
    assert_eq!(answer.told(), (404, "unknown user 'nobody@example.com'"));
}

#[tokio::test]
async fn nobody_makes_a_token_that_is_stronger_than_the_own_one() {
    let gateway = Gateway::new().await;
    gateway.person("root", Role::PlatformAdmin, &[]).await;
    gateway.person("ann", Role::TeamAdmin, &["team-a"]).await;
    let check = async |grant: Grant, body: Value, field: &str| {
        let (token, _) = gateway.token(&grant).await;
        let answer = gateway.ask(&token, "POST /tokens", body.clone()).await;
        assert_eq!(answer.status, 422, "{body}: {answer:?}");
        assert_eq!(answer.each("errors", "path"), [field], "{body}: {answer:?}");
    };
    let developer = || grant("ann", Role::Developer, &["team-a"]);
    check(developer(), json!({"role": "team_admin"}), "role").await;
    check(developer(), json!({"role": "platform_admin"}), "role").await;
    check(
        developer(),
        json!({"role": "viewer", "teams": ["team-b"]}),
        "teams",
    )
    .await;
    check(developer(), json!({"role": "viewer", "teams": ["none"]}), "teams").await;
    check(developer(), json!({"role": "viewer", "scopes": []}), "scopes").await;
    check(developer(), json!({"role": "viewer", "name": "a\nb"}), "name").await;
    check(
        developer(),
        json!({"role": "viewer", "expires": "2001-01-01T00:00:00Z"}),
        "expires",
    )
    .await;
    check(
        developer(),
        json!({"role": "viewer", "user": "root@example.com"}),
        "user",
    )
    .await;
    check(developer(), json!({"role": "viewer", "made_by": null}), "made_by").await;
    let scoped = || Grant {
        scopes: Some(PermissionSet::read("tokens.create servers.read").unwrap()),
        ..developer()
    };
    check(scoped(), json!({"role": "developer"}), "scopes").await;
    check(
        scoped(),
        json!({"role": "developer", "scopes": ["servers.use"]}),
        "scopes",
    )
    .await;
    let short = || Grant {
        expires_ms: Some(FAR),
        ..developer()
    };
    check(short(), json!({"role": "viewer"}), "expires").await;
    check(
        short(),
        json!({"role": "viewer", "expires": "2200-01-01T00:00:00Z"}),
        "expires",
    )
    .await;
    // A platform admin whose token is limited to teams acts for no other user, and for no other team.
    let limited = || Grant {
        teams: TokenTeams::Only([types::TeamId::new("team-a")].into()),
        ..grant("root", Role::PlatformAdmin, &[])
    };
    check(limited(), json!({"role": "platform_admin"}), "role").await;
    check(
        limited(),
        json!({"role": "team_admin", "teams": ["team-b"]}),
        "teams",
    )
    .await;
    check(
        limited(),
        json!({"role": "viewer", "user": "ann@example.com"}),
        "user",
    )
    .await;
}

#[tokio::test]
async fn tokens_are_listed_in_pages() {
    let gateway = Gateway::new().await;
    let ann = gateway.person("ann", Role::Developer, &[]).await;
    for _ in 0..4 {
        gateway.token(&grant("ann", Role::Viewer, &[])).await;
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = gateway.get(&ann, &format!("GET /tokens?limit=2{cursor}")).await;
        let ids = page.each("tokens", "id");
        assert!(ids.len() <= 2, "{page:?}");
        seen.extend(ids);
        match page.body["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let all = gateway.get(&ann, "GET /tokens").await;
    assert_eq!(seen, all.each("tokens", "id"));
    assert_eq!(seen.len(), 5);
    // A cursor of another list.
    let wrong = gateway
        .get(&ann, "GET /tokens?cursor=MDphbm5AZXhhbXBsZS5jb20")
        .await;
    let told = "cursor: is not a cursor of this list; leave `cursor` out to begin with the first page";
    assert_eq!(wrong.told(), (422, told));
}
