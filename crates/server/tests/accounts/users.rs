//! Users over REST: the last platform admin stays, and roles come only from those who have them.

use identity::{Grant, PermissionSet, Role};
use serde_json::{Value, json};

use crate::gateway::{Gateway, grant};

#[tokio::test]
async fn the_last_enabled_platform_admin_is_not_removed_disabled_or_demoted() {
    let gateway = Gateway::new().await;
    let root = gateway.person("root", Role::PlatformAdmin, &[]).await;
    let told =
        "'root@example.com' is the last enabled platform admin; make another user a platform admin first";
    let check = async |expected: (u16, &str)| {
        for body in [json!({"disabled": true}), json!({"role": "viewer"})] {
            let answer = gateway.ask(&root, "PUT /users/root@example.com", body).await;
            assert_eq!(answer.told(), expected);
        }
        let answer = gateway.get(&root, "DELETE /users/root@example.com").await;
        assert_eq!(answer.told(), expected);
    };
    check((409, told)).await;
    gateway.person("second", Role::PlatformAdmin, &[]).await;
    let disabled = gateway
        .ask(&root, "PUT /users/second@example.com", json!({"disabled": true}))
        .await;
    assert_eq!((disabled.status, &disabled.body["disabled"]), (200, &json!(true)));
    // A disabled admin manages nothing.
    check((409, told)).await;
    let renewed = gateway
        .ask(&root, "PUT /users/root@example.com", json!({"disabled": false}))
        .await;
    assert_eq!(renewed.status, 200);
    let enabled = gateway
        .ask(&root, "PUT /users/second@example.com", json!({"disabled": false}))
        .await;
    assert_eq!(enabled.status, 200);
    let removed = gateway.get(&root, "DELETE /users/root@example.com").await;
    assert_eq!(removed.status, 200, "{removed:?}");
    assert!(!gateway.admits(&root).await);
}

#[tokio::test]
async fn of_two_admins_who_remove_each_other_at_once_one_stays() {
    for _ in 0..8 {
        let gateway = Gateway::new().await;
        let one = gateway.person("one", Role::PlatformAdmin, &[]).await;
        let other = gateway.person("other", Role::PlatformAdmin, &[]).await;
        let (first, second) = tokio::join!(
            gateway.get(&one, "DELETE /users/other@example.com"),
            gateway.ask(&other, "PUT /users/one@example.com", json!({"disabled": true})),
        );
        let left = [gateway.admits(&one).await, gateway.admits(&other).await];
        assert_eq!(
            left.into_iter().filter(|admits| *admits).count(),
            1,
            "{first:?} {second:?}"
        );
    }
}

#[tokio::test]
async fn a_disabled_user_has_no_valid_token_and_a_removed_one_is_unknown() {
    let gateway = Gateway::new().await;
    let root = gateway.person("root", Role::PlatformAdmin, &[]).await;
    let body = json!({"user": "Ann@Example.com", "role": "developer"});
    let made = gateway.ask(&root, "POST /users", body.clone()).await;
    assert_eq!(
        (made.status, &made.body["user"]),
        (201, &json!("ann@example.com"))
    );
    let again = gateway.ask(&root, "POST /users", body).await;
    assert_eq!(again.told(), (409, "user 'ann@example.com' exists already"));
    let token = gateway
        .ask(
            &root,
            "POST /tokens",
            json!({"role": "viewer", "user": "ann@example.com"}),
        )
        .await;
    let token = token.body["token"].as_str().unwrap().to_owned();
    for (disabled, admits) in [(true, false), (false, true)] {
        let mut view = gateway.get(&root, "GET /users/ann@example.com").await.body;
        view["disabled"] = Value::Bool(disabled);
        let changed = gateway.ask(&root, "PUT /users/ann@example.com", view).await;
        assert_eq!(
            (changed.status, &changed.body["disabled"]),
            (200, &json!(disabled)),
            "{changed:?}"
        );
        assert_eq!(gateway.admits(&token).await, admits);
    }
    assert_eq!(
        gateway.get(&root, "DELETE /users/ann@example.com").await.status,
        200
    );
    assert!(!gateway.admits(&token).await);
    for asked in ["GET", "DELETE"] {
        for name in ["ann@example.com", "nobody@example.com", "no address"] {
            let answer = gateway.get(&root, &format!("{asked} /users/{name}")).await;
            assert_eq!(answer.told(), (404, "User not found"), "{asked} {name}");
        }
    }
    let answer = gateway.ask(&root, "PUT /users/ann@example.com", json!({})).await;
    assert_eq!(answer.told(), (404, "User not found"));
}

#[tokio::test]
async fn a_scope_that_lacks_a_permission_gives_no_role_with_it() {
    let gateway = Gateway::new().await;
    gateway.person("root", Role::PlatformAdmin, &[]).await;
    gateway.person("ann", Role::Viewer, &[]).await;
    let scopes = "users.create users.read users.update users.delete";
    let (scoped, _) = gateway
        .token(&Grant {
            scopes: Some(PermissionSet::read(scopes).unwrap()),
            ..grant("root", Role::PlatformAdmin, &[])
        })
        .await;
    let admin = json!({"user": "new@example.com", "role": "platform_admin"});
    let answer = gateway.ask(&scoped, "POST /users", admin).await;
    assert_eq!(
        (answer.status, answer.each("errors", "path")),
        (422, vec!["role".to_owned()])
    );
    let answer = gateway
        .ask(
            &scoped,
            "PUT /users/ann@example.com",
            json!({"role": "platform_admin"}),
        )
        .await;
    assert_eq!(
        (answer.status, answer.each("errors", "path")),
        (422, vec!["role".to_owned()])
    );
    let answer = gateway
        .ask(&scoped, "PUT /users/ann@example.com", json!({"role": "viewer"}))
        .await;
    assert_eq!(answer.status, 200, "a body may repeat the role: {answer:?}");
}

#[tokio::test]
async fn users_are_listed_in_pages() {
    let gateway = Gateway::new().await;
    let root = gateway.person("root", Role::PlatformAdmin, &[]).await;
    for name in ["a", "b", "c"] {
        gateway.person(name, Role::Viewer, &[]).await;
    }
    let first = gateway.get(&root, "GET /users?limit=3").await;
    assert_eq!(
        first.each("users", "user"),
        ["a@example.com", "b@example.com", "c@example.com"]
    );
    let cursor = first.body["nextCursor"].as_str().unwrap();
    let last = gateway
        .get(&root, &format!("GET /users?limit=3&cursor={cursor}"))
        .await;
    assert_eq!(last.each("users", "user"), ["root@example.com"]);
    assert!(last.body["nextCursor"].is_null());
}
