//! What holders of stolen links, states, codes and cookies gain: nothing.

use test_support::oauth::browse_home;

use super::yard::LoginYard;
use crate::gateway::actors::{ALICE, BOB};
use crate::http::served;

#[tokio::test]
async fn a_stolen_link_gains_nothing() {
    let yard = LoginYard::start().await;
    let link = yard.link(&ALICE).await;
    let origin = yard.origin();
    let path = &link[link.find("/logins").unwrap()..];
    let page = served::send(&yard.gateway.address, ("GET", path), &[], b"").await;
    let page = page.whole().await;
    assert_eq!(page.status, 200, "{}", page.text());
    // No site can lay its own buttons over the page.
    let content = page.header("content-security-policy").unwrap();
    assert!(content.contains("frame-ancestors 'none'"), "{content}");
    let (own, foreign) = (yard.gateway.token(&ALICE).await, yard.gateway.token(&BOB).await);
    for (token, origin, status) in [
        ("", Some(origin.as_str()), 403),
        ("cyd_made_up", Some(&origin), 403),
        (&foreign, Some(&origin), 403),
        // Another site that knows the link of its own user sends somebody's browser here.
        (&own, Some("http://evil.example"), 403),
        (&own, None, 400),
    ] {
        let answer = yard.submit(&link, token, origin).await;
        assert_eq!(answer.status, status, "{token} {origin:?}: {}", answer.text());
        assert!(answer.header("set-cookie").is_none() && answer.header("location").is_none());
    }
    // The link still serves its user, once.
    let begun = yard.submit(&link, &own, Some(&origin)).await;
    assert_eq!(begun.status, 303, "{}", begun.text());
    let again = yard.submit(&link, &own, Some(&origin)).await;
    assert_eq!(again.status, 404, "{}", again.text());
    assert!(yard.subjects().await.is_empty());
}

#[tokio::test]
async fn a_stolen_state_and_code_gain_nothing() {
    let yard = LoginYard::start().await;
    let link = yard.link(&ALICE).await;
    let origin = yard.origin();
    let token = yard.gateway.token(&ALICE).await;
    let begun = yard.submit(&link, &token, Some(&origin)).await;
    let cookie = begun.header("set-cookie").unwrap().to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
        "{cookie}"
    );
    // Someone else's account agrees at the authorization server, and the redirect reaches the attacker.
    let callback = browse_home(begun.header("location").unwrap()).await.unwrap();
    assert!(callback.contains("/logins/callback?"), "{callback}");
    let path = &callback[callback.find("/logins").unwrap()..];
    let stolen = cookie.split(';').next().unwrap().to_owned();
    let forged = format!("{}x", stolen);
    let other_state = path.replace("state=", "state=x");
    for (path, cookie) in [(path, None), (path, Some(&forged)), (&other_state, Some(&stolen))] {
        let headers: Vec<_> = cookie.iter().map(|cookie| ("cookie", cookie.as_str())).collect();
        let answer = served::send(&yard.gateway.address, ("GET", path), &headers, b"");
        let answer = answer.await.whole().await;
        assert_eq!(answer.status, 400, "{path} {cookie:?}: {}", answer.text());
    }
    yard.link(&ALICE).await;
    // The browser that began ends the login, once.
    let headers = [("cookie", stolen.as_str())];
    for status in [200, 400] {
        let answer = served::send(&yard.gateway.address, ("GET", path), &headers, b"");
        let answer = answer.await.whole().await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    yard.works(&ALICE).await;
}
