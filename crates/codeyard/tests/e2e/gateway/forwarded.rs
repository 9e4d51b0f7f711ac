//! `[http] trusted_proxies`: whose headers decide a client's address and host.

use serde_json::json;
use test_support::{Codeyard, run, wait_until};

use super::actors::ADMIN;
use super::running::{Gateway, installation};
use crate::http::served;

async fn gateway(settings: &str) -> Gateway {
    Gateway::start(installation().settings(settings).env("CODEYARD_LOG", "info")).await
}

/// The status of a request, with or without a token.
async fn status(gateway: &Gateway, token: Option<&str>, headers: &[(&str, &str)]) -> u16 {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let mut all = headers.to_vec();
    all.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
    let answer = served::send(&gateway.address, ("GET", "/servers"), &all, b"").await;
    answer.whole().await.status
}

/// The log line about a refused token.
async fn refused_token(gateway: &Gateway) -> String {
    wait_until("a line", || gateway.logged("without a valid token")).await
}

const FORWARDED: [(&str, &str); 3] = [
    ("x-forwarded-for", "198.51.100.1, 192.0.2.7"),
    ("x-forwarded-host", "yard.example.com"),
    ("x-forwarded-proto", "https"),
];

#[tokio::test]
async fn headers_of_other_peers_have_no_effect() {
    for settings in [
        "",
        "[http]\ntrusted_proxies = [\"10.0.0.0/8\", \"192.0.2.0/24\"]\n",
    ] {
        let gateway = gateway(settings).await;
        assert_eq!(status(&gateway, None, &FORWARDED).await, 401);
        let line = refused_token(&gateway).await;
        assert!(
            line.contains("client=127.0.0.1") && !line.contains("192.0.2.7"),
            "{line}"
        );
        let token = gateway.token(&ADMIN).await;
        let foreign = [&FORWARDED[..], &[("host", "yard.example.com")]].concat();
        assert_eq!(status(&gateway, Some(&token), &foreign).await, 403);
        let page = [&FORWARDED[..], &[("origin", "https://yard.example.com")]].concat();
        assert_eq!(status(&gateway, Some(&token), &page).await, 403);
        assert_eq!(status(&gateway, Some(&token), &FORWARDED).await, 200);
    }
}

#[tokio::test]
async fn a_trusted_proxy_names_the_client_and_its_host() {
    let gateway = gateway("[http]\ntrusted_proxies = [\"127.0.0.1\"]\n").await;
    assert_eq!(status(&gateway, Some("guessed"), &FORWARDED).await, 401);
    let line = refused_token(&gateway).await;
    assert!(
        line.contains("client=192.0.2.7") && !line.contains("198.51.100.1"),
        "{line}"
    );
    assert!(!line.contains("guessed"), "{line}");
    let token = gateway.token(&ADMIN).await;
    for (origin, expected) in [
        ("https://yard.example.com", 200),
        ("http://yard.example.com", 403),
        ("https://evil.example.com", 403),
        ("http://localhost", 403),
    ] {
        let page = [&FORWARDED[..], &[("origin", origin)]].concat();
        assert_eq!(status(&gateway, Some(&token), &page).await, expected, "{origin}");
    }
    // Without a proxy, a foreign host name is refused: a page may have pointed its own name at this address.
    assert_eq!(
        status(&gateway, Some(&token), &[("host", "evil.example.com")]).await,
        403
    );
    gateway.ask(&ADMIN, "GET /servers", json!(null), 200).await;
}

#[tokio::test]
async fn behind_a_proxy_one_surface_needs_a_token() {
    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[http]\ntrusted_proxies = [\"127.0.0.1\"]\n");
    let refused = run(&codeyard, &["mcp", "--listen", "0"], "").await;
    assert!(
        refused.code == 2 && refused.err.contains("give --token-file FILE"),
        "{refused:?}"
    );
}
