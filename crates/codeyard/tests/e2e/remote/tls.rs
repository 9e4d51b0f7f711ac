//! Invalid certificates: people and programs read the defect and the remedy, and nothing is sent.

use serde_json::json;
use test_support::{Certificate, CodeClient, Codeyard, RemoteServer, Way, run};

use crate::remote::check;

/// A codeyard with this server, which trusts the server's authority or its own.
fn codeyard(server: &RemoteServer, authority: &str) -> Codeyard {
    let codeyard = Codeyard::new().unwrap();
    let file = codeyard.directory().join("authorities.pem");
    std::fs::write(&file, authority).unwrap();
    let headers = json!({"Authorization": "Bearer s3cret"});
    codeyard
        .env("SSL_CERT_FILE", file)
        .env("SSL_CERT_DIR", "")
        .server_json("far", json!({"url": server.url(), "headers": headers}))
}

#[tokio::test]
async fn a_good_certificate_of_a_private_authority_is_accepted() {
    for way in [Way::Modern, Way::Legacy, Way::Sse] {
        let server = RemoteServer::start_secure(way, Certificate::Good).await.unwrap();
        let codeyard = codeyard(&server, server.authority());
        let tried = run(&codeyard, &["servers", "test", "far"], "").await;
        assert_eq!(tried.code, 0, "{way:?}: {tried:?}");
        let mut client = CodeClient::of(codeyard).await;
        check(
            &client.run("return await tools.far.echo(message='x')").await,
            &json!("x"),
        );
        let told = server.seen();
        assert!(
            told.iter()
                .all(|seen| seen.header("authorization") == Some("Bearer s3cret"))
        );
    }
}

#[tokio::test]
async fn a_bad_certificate_is_named_with_its_remedy_before_anything_is_sent() {
    let other = RemoteServer::start_secure(Way::Modern, Certificate::Good)
        .await
        .unwrap();
    for (certificate, is_known, expected) in [
        (Certificate::Good, false, "the variable SSL_CERT_FILE names"),
        (
            Certificate::Expired,
            true,
            "its certificate has expired; the operator of the server must renew it",
        ),
        (
            Certificate::TooEarly,
            true,
            "its certificate is not valid yet; is the clock of this machine right?",
        ),
        (
            Certificate::OtherName,
            true,
            "its certificate is for another name (other.example); write that name in `url`",
        ),
        (
            Certificate::OfAnAuthority,
            true,
            "its certificate is not accepted",
        ),
    ] {
        let server = RemoteServer::start_secure(Way::Modern, certificate)
            .await
            .unwrap();
        let trusted = if is_known { &server } else { &other };
        let codeyard = codeyard(&server, trusted.authority());
        let tried = run(&codeyard, &["servers", "test", "far"], "").await;
        let listed = run(&codeyard, &["tools"], "").await;
        let mut client = CodeClient::of(codeyard).await;
        let ran = client
            .run("try:\n    await tools.far.echo(message='x')\nexcept ToolError as error:\n    return str(error)")
            .await;
        assert_eq!(tried.code, 4, "{certificate:?}: {tried:?}");
        for told in [
            tried.err,
            format!("{}{}", listed.out, listed.err),
            ran.shown().to_owned(),
        ] {
            assert!(
                told.contains("it cannot be reached: ") && told.contains(expected),
                "{certificate:?}: {told}"
            );
            assert!(!told.contains("s3cret"), "{told}");
        }
        assert!(server.seen().is_empty(), "{certificate:?}: {:?}", server.seen());
    }
}
