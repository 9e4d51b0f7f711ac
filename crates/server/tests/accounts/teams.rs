//! Teams over REST: seen by their members, changed by those who administer them.

use identity::{Grant, PermissionSet, Role};
use serde_json::json;
use types::TeamId;

use crate::gateway::{Gateway, actor, grant, user};

#[tokio::test]
async fn a_team_is_made_renamed_and_removed() {
    let gateway = Gateway::new().await;
    let root = gateway.person("root", Role::PlatformAdmin, &[]).await;
    let made = gateway.ask(&root, "POST /teams", json!({"id": "team-c"})).await;
    assert_eq!((made.status, &made.body["name"]), (201, &json!("team-c")));
    let again = gateway.ask(&root, "POST /teams", json!({"id": "team-c"})).await;
    assert_eq!(again.told(), (409, "team 'team-c' exists already"));
    let mut view = gateway.get(&root, "GET /teams/team-c").await.body;
    view["name"] = json!("Team C");
    let renamed = gateway.ask(&root, "PUT /teams/team-c", view.clone()).await;
    assert_eq!((renamed.status, renamed.body), (200, view));
    let removed = gateway.get(&root, "DELETE /teams/team-c").await;
    assert_eq!(
        removed.body,
        json!({"status": "success", "message": "Team team-c deleted successfully"})
    );
    for asked in [
        "GET /teams/team-c",
        "GET /teams/Team C",
        "DELETE /teams/team-c",
        "GET /teams/team-c/members",
    ] {
        assert_eq!(
            gateway.get(&root, asked).await.told(),
            (404, "Team not found"),
            "{asked}"
        );
    }
}

#[tokio::test]
async fn everybody_lists_the_own_teams_and_admins_all() {
    let gateway = Gateway::new().await;
    for id in ["team-c", "team-d", "team-e"] {
        let made = gateway
            .accounts
            .by(actor())
            .create_team(&crate::gateway::tenant(), &TeamId::new(id), id)
            .await;
        made.unwrap();
    }
    let ann = gateway
        .person("ann", Role::Viewer, &["team-a", "team-c", "team-e"])
        .await;
    let own = gateway.get(&ann, "GET /teams").await;
    assert_eq!(own.each("teams", "id"), ["team-a", "team-c", "team-e"]);
    let none = gateway.person("zoe", Role::Developer, &[]).await;
    assert!(
        gateway
            .get(&none, "GET /teams")
            .await
            .each("teams", "id")
            .is_empty()
    );
    let root = gateway.person("root", Role::PlatformAdmin, &[]).await;
    for (token, all) in [
        (&ann, &["team-a", "team-c", "team-e"][..]),
        (&root, &["team-a", "team-b", "team-c", "team-d", "team-e"][..]),
    ] {
        let mut seen = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = gateway.get(token, &format!("GET /teams?limit=2{cursor}")).await;
            seen.extend(page.each("teams", "id"));
            match page.body["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, all);
    }
}

#[tokio::test]
async fn members_come_change_and_go() {
    let gateway = Gateway::new().await;
    let ann = gateway.person("ann", Role::TeamAdmin, &["team-a"]).await;
    let bob = gateway.person("bob", Role::Developer, &[]).await;
    let member = "/teams/team-a/members/bob@example.com";
    assert_eq!(gateway.get(&bob, "GET /teams/team-a").await.status, 404);
    for role in ["viewer", "developer"] {
        let set = gateway
            .ask(&ann, &format!("PUT {member}"), json!({"role": role}))
            .await;
        assert_eq!(
            (set.status, &set.body["role"], &set.body["team"]),
            (200, &json!(role), &json!("team-a"))
        );
    }
    let (bob, _) = gateway.token(&grant("bob", Role::Developer, &["team-a"])).await;
    let listed = gateway.get(&bob, "GET /teams/team-a/members").await;
    assert_eq!(
        listed.each("members", "user"),
        ["ann@example.com", "bob@example.com"]
    );
    let first = gateway.get(&bob, "GET /teams/team-a/members?limit=1").await;
    let cursor = first.body["nextCursor"].as_str().unwrap();
    let second = gateway
        .get(
            &bob,
            &format!("GET /teams/team-a/members?limit=1&cursor={cursor}"),
        )
        .await;
    assert_eq!(second.each("members", "user"), ["bob@example.com"]);
    assert_eq!(gateway.get(&ann, &format!("DELETE {member}")).await.status, 200);
    assert_eq!(
        gateway.get(&ann, &format!("DELETE {member}")).await.told(),
        (404, "Member not found")
    );
    assert_eq!(
        gateway.get(&bob, "GET /teams/team-a").await.told(),
        (404, "Team not found")
    );
}

#[tokio::test]
async fn nobody_gives_a_role_that_is_more_than_the_own_one() {
    let gateway = Gateway::new().await;
    let ann = gateway.person("ann", Role::TeamAdmin, &["team-a"]).await;
    gateway.person("bob", Role::Viewer, &[]).await;
    let set = async |token: &str, team: &str, name: &str, role: &str| {
        let asked = format!("PUT /teams/{team}/members/{name}@example.com");
        let answer = gateway.ask(token, &asked, json!({"role": role})).await;
        (answer.status, answer.told().1.to_owned())
    };
    let told = |(status, text): (u16, String)| format!("{status} {text}");
    for role in ["platform_admin", "platform_viewer"] {
        let refused = told(set(&ann, "team-a", "ann", role).await);
        let expected =
            format!("422 role: '{role}' is not a role of a team; name 'team_admin', 'developer' or 'viewer'");
        assert_eq!(refused, expected);
    }
    assert_eq!(
        told(set(&ann, "team-b", "ann", "viewer").await),
        "404 Team not found"
    );
    assert_eq!(
        told(set(&ann, "none", "ann", "viewer").await),
        "404 Team not found"
    );
    assert_eq!(
        told(set(&ann, "team-a", "nobody", "viewer").await),
        "404 unknown user 'nobody@example.com'"
    );
    let (scoped, _) = gateway
        .token(&Grant {
            scopes: Some(PermissionSet::read("teams.update teams.read").unwrap()),
            ..grant("ann", Role::TeamAdmin, &["team-a"])
        })
        .await;
    let refused = set(&scoped, "team-a", "bob", "viewer").await;
    assert!(told(refused).starts_with("422 role: 'viewer' allows servers.read"));
    let memberships = gateway.accounts.memberships(&user("bob")).await.unwrap();
    assert!(memberships.is_empty());
}
