//! Tokens of right and hostile issuers, over real HTTP and with real signatures.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "issuers/server.rs"]
mod server;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::FutureExt as _;
use identity::{ExistingUsers, NewUsers, Role, SignOnRules};
use oidc::{Algorithm, IssuerConfig, Issuers, TokenError};
use serde_json::{Value, json};

use server::{Behaviour, IssuerServer, Signer};

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

fn config(issuer: &str) -> IssuerConfig {
    IssuerConfig {
        issuer: issuer.to_owned(),
        audiences: vec!["https://yard.example".to_owned()],
        logout_audiences: vec!["codeyard".to_owned()],
        algorithms: vec![Algorithm::Es256],
        jwks_uri: None,
        leeway: Duration::from_secs(30),
        rules: SignOnRules {
            user_claim: "email".to_owned(),
            new_users: NewUsers::Create,
            existing_users: ExistingUsers::Refuse,
            role: Role::Viewer,
            claims: Vec::new(),
            scopes: Default::default(),
            agents: None,
        },
    }
}

/// The claims of a right token, with other members; `null` removes one.
fn claims(issuer: &str, more: Value) -> Value {
    let mut claims = json!({
        "iss": issuer, "sub": "1", "aud": "https://yard.example", "iat": now(), "exp": now() + 300,
        "scope": "mcp:use",
    });
    for (name, value) in more.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

async fn verify(issuers: &Issuers, token: &str) -> Result<(), TokenError> {
    issuers.verify(token, now()).await.map(drop)
}

/// Lets so many seconds pass for the remembered keys. The claims' times do not change.
async fn pass(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

/// An issuer with one key, and a verifier that trusts it.
async fn issuer() -> (IssuerServer, Signer, Issuers) {
    let signer = Signer::new("one");
    let server = IssuerServer::start(Behaviour::keys(&[&signer])).await;
    let issuers = Issuers::new(vec![config(&server.url)]);
    (server, signer, issuers)
}

#[tokio::test]
async fn right_tokens_are_accepted_and_keys_are_asked_for_once() {
    let (server, signer, issuers) = issuer().await;
    let tokens: Vec<String> = (0..20)
        .map(|number| {
            signer.sign(
                json!({"typ": "at+jwt"}),
                &claims(&server.url, json!({"jti": number})),
            )
        })
        .collect();
    let all = tokens.iter().map(|token| verify(&issuers, token));
    for verified in futures_util::future::join_all(all).await {
        assert_eq!(verified, Ok(()));
    }
    assert_eq!(server.requests("/keys"), 1, "one request serves all that wait");
    let beneath = claims(
        &server.url,
        json!({"aud": ["x", "https://yard.example/servers/a/mcp"]}),
    );
    let token = signer.sign(json!({}), &beneath);
    let verified = issuers.verify(&token, now()).await.unwrap();
    assert_eq!(verified.paths, Some(vec!["/servers/a/mcp".to_owned()]));
}

#[tokio::test]
async fn hostile_tokens_are_refused() {
    let (server, signer, issuers) = issuer().await;
    let right = claims(&server.url, json!({}));
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let unsigned = |alg: &str| format!("{}.{}.", part(&json!({"alg": alg})), part(&right));
    for alg in ["none", "None", "nOnE", ""] {
        assert_eq!(
            verify(&issuers, &unsigned(alg)).await,
            Err(TokenError::Algorithm),
            "{alg}"
        );
    }
    for alg in ["HS256", "RS256", "ES384", "EdDSA", "es256"] {
        let token = signer.sign(json!({"alg": alg}), &right);
        assert_eq!(
            verify(&issuers, &token).await,
            Err(TokenError::Algorithm),
            "{alg}"
        );
    }
    let other = Signer::new("one");
    assert_eq!(
        verify(&issuers, &other.sign(json!({}), &right)).await,
        Err(TokenError::Signature)
    );
    assert_eq!(
        verify(&issuers, &signer.sign(json!({"kid": "two"}), &right)).await,
        Err(TokenError::Key)
    );
    let own_key = json!({"kid": "two", "jwk": {"kty": "EC"}, "jku": "http://127.0.0.1:1/keys"});
    assert_eq!(
        verify(&issuers, &other.sign(own_key, &right)).await,
        Err(TokenError::Key)
    );
    let token = signer.sign(json!({}), &right);
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (header, _) = signed.split_once('.').unwrap();
    let changed = format!(
        "{header}.{}.{signature}",
        part(&claims(&server.url, json!({"sub": "2"})))
    );
    assert_eq!(verify(&issuers, &changed).await, Err(TokenError::Signature));
    assert_eq!(
        verify(&issuers, &format!("{signed}.")).await,
        Err(TokenError::Signature)
    );
    let critical = signer.sign(json!({"crit": ["x"], "x": 1}), &right);
    assert_eq!(verify(&issuers, &critical).await, Err(TokenError::Critical));
    for typ in ["logout+jwt", "dpop+jwt", "ID", "secevent+jwt"] {
        let token = signer.sign(json!({"typ": typ}), &right);
        assert_eq!(
            verify(&issuers, &token).await,
            Err(TokenError::NotAccess),
            "{typ}"
        );
    }
}

#[tokio::test]
async fn claims_of_others_and_of_other_times_are_refused() {
    let (server, signer, issuers) = issuer().await;
    let check = async |more: Value, expected: TokenError| {
        let token = signer.sign(json!({}), &claims(&server.url, more.clone()));
        assert_eq!(verify(&issuers, &token).await, Err(expected), "{more}");
    };
    check(json!({"iss": "https://evil.example"}), TokenError::Issuer).await;
    check(json!({"iss": format!("{}/", server.url)}), TokenError::Issuer).await;
    check(json!({"iss": null}), TokenError::Issuer).await;
    check(json!({"aud": "https://other.example"}), TokenError::Audience).await;
    check(
        json!({"aud": "https://yard.example.example"}),
        TokenError::Audience,
    )
    .await;
    check(json!({"aud": null}), TokenError::Audience).await;
    check(json!({"exp": null}), TokenError::Time("exp")).await;
    check(json!({"exp": "99999999999"}), TokenError::Time("exp")).await;
    check(json!({"nbf": "0"}), TokenError::Time("nbf")).await;
    check(json!({"iat": null}), TokenError::Time("iat")).await;
    check(json!({"nonce": "a"}), TokenError::NotAccess).await;
    check(json!({"typ": "ID"}), TokenError::NotAccess).await;
    check(json!({"typ": 7}), TokenError::NotAccess).await;
    check(json!({"events": {}}), TokenError::NotAccess).await;
    check(json!({"cnf": {"jkt": "x"}}), TokenError::Bound).await;
    let text = async |more: Value| {
        let token = signer.sign(json!({}), &claims(&server.url, more));
        verify(&issuers, &token).await.unwrap_err().to_string()
    };
    // Clocks apart by an hour, in both directions.
    let early = text(json!({"iat": now() + 3600, "exp": now() + 7200})).await;
    assert!(
        early.contains("valid only in 3") && early.contains("clocks"),
        "{early}"
    );
    let late = text(json!({"iat": now() - 3900, "exp": now() - 3600})).await;
    assert!(late.contains("expired 36"), "{late}");
    let long = text(json!({"exp": now() + 91 * 24 * 3600})).await;
    assert!(
        long.contains("90 days") && long.contains("at the issuer"),
        "{long}"
    );
}

#[tokio::test]
async fn id_tokens_are_refused_and_access_tokens_of_every_issuer_accepted() {
    let (server, signer, issuers) = issuer().await;
    let check = async |header: Value, more: Value, expected: Result<(), TokenError>| {
        let mut all = claims(&server.url, json!({"scope": null}));
        let own = more.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(own);
        let verified = verify(&issuers, &signer.sign(header.clone(), &all)).await;
        assert_eq!(verified, expected, "{header} {more}");
    };
    let no = || Err(TokenError::NotAccess);
    for header in [json!({}), json!({"typ": "JWT"})] {
        check(header.clone(), json!({}), no()).await;
        check(header.clone(), json!({"azp": "a", "email": "a@b.example"}), no()).await;
        check(header.clone(), json!({"typ": "ID", "scope": "openid"}), no()).await;
        check(header.clone(), json!({"roles": ["staff"]}), no()).await;
        for own in [
            json!({"scope": "mcp:use"}),
            json!({"scp": ["mcp:use"]}),
            json!({"roles": ["staff"], "azpacr": "1"}),
            json!({"client_id": "a"}),
            json!({"typ": "Bearer"}),
        ] {
            check(header.clone(), own, Ok(())).await;
        }
    }
    for typ in ["at+jwt", "AT+JWT", "application/at+jwt"] {
        check(json!({"typ": typ}), json!({}), Ok(())).await;
    }
}

#[tokio::test]
async fn times_with_a_fraction_are_read_as_whole_seconds() {
    let (server, signer, issuers) = issuer().await;
    let text = format!(r#"{{"iat": {}.25, "exp": {}.75}}"#, now(), now() + 300);
    let fractions: Value = serde_json::from_str(&text).unwrap();
    let ends = fractions["exp"].as_f64().unwrap().floor();
    let token = signer.sign(json!({}), &claims(&server.url, fractions));
    let verified = issuers.verify(&token, now()).await.unwrap();
    assert!(verified.claims["iat"].is_i64(), "{:?}", verified.claims);
    assert_eq!(verified.claims["exp"].as_i64().map(|end| end as f64), Some(ends));
}

#[tokio::test]
async fn keys_that_rotate_are_read_again_but_not_for_every_token() {
    let (server, first, issuers) = issuer().await;
    let second = Signer::new("two");
    let token = |signer: &Signer| signer.sign(json!({}), &claims(&server.url, json!({})));
    assert_eq!(verify(&issuers, &token(&first)).await, Ok(()));
    pass(6).await;
    server.set(Behaviour::keys(&[&second]));
    assert_eq!(
        verify(&issuers, &token(&second)).await,
        Ok(()),
        "a new key is read at once"
    );
    assert_eq!(
        verify(&issuers, &token(&first)).await,
        Err(TokenError::Key),
        "a withdrawn one is forgotten"
    );
    assert_eq!(server.requests("/keys"), 2);
    // Invented keys do not flood the issuer.
    for number in 0..50 {
        let invented = Signer::new(&format!("invented-{number}"));
        assert_eq!(verify(&issuers, &token(&invented)).await, Err(TokenError::Key));
    }
    assert_eq!(server.requests("/keys"), 2);
    // Another key under a name that was known.
    pass(6).await;
    let third = Signer::new("two");
    server.set(Behaviour::keys(&[&third]));
    assert_eq!(verify(&issuers, &token(&third)).await, Ok(()));
}

#[tokio::test]
async fn while_the_issuer_is_down_keys_serve_for_an_hour() {
    let (server, signer, issuers) = issuer().await;
    let token = signer.sign(json!({}), &claims(&server.url, json!({"exp": now() + 90_000})));
    assert_eq!(verify(&issuers, &token).await, Ok(()));
    server.set(Behaviour::Down);
    pass(3500).await;
    assert_eq!(verify(&issuers, &token).await, Ok(()));
    pass(200).await;
    assert_eq!(verify(&issuers, &token).await, Err(TokenError::NoKeys));
    server.set(Behaviour::keys(&[&signer]));
    pass(6).await;
    assert_eq!(verify(&issuers, &token).await, Ok(()), "it comes back");
}

#[tokio::test]
async fn stale_keys_are_read_again_before_the_next_answer() {
    let (server, signer, issuers) = issuer().await;
    let token = signer.sign(json!({}), &claims(&server.url, json!({})));
    assert_eq!(verify(&issuers, &token).await, Ok(()));
    server.set(Behaviour::keys(&[&Signer::new("two")]));
    pass(601).await;
    let both = futures_util::future::join(verify(&issuers, &token), verify(&issuers, &token));
    assert_eq!(
        both.await,
        (Err(TokenError::Key), Ok(())),
        "the first reads the keys, the second does not wait for it"
    );
    assert_eq!(server.requests("/keys"), 2);
    assert_eq!(verify(&issuers, &token).await, Err(TokenError::Key));
}

#[tokio::test]
async fn a_client_that_goes_away_does_not_end_the_reading_of_keys() {
    let (server, signer, issuers) = issuer().await;
    let token = signer.sign(json!({}), &claims(&server.url, json!({})));
    let gone = verify(&issuers, &token).now_or_never();
    assert_eq!(gone, None, "it waits for the keys");
    assert_eq!(verify(&issuers, &token).await, Ok(()));
    assert_eq!(server.requests("/keys"), 1);
}

#[tokio::test]
async fn broken_and_hostile_documents_give_no_keys() {
    let signer = Signer::new("one");
    let elsewhere = IssuerServer::start(Behaviour::keys(&[&signer])).await;
    for behaviour in [
        Behaviour::Down,
        Behaviour::Huge,
        Behaviour::Endless,
        Behaviour::Redirect(format!("{}/keys", elsewhere.url)),
        Behaviour::Redirect("http://169.254.169.254/latest".to_owned()),
        Behaviour::Text("[]".to_owned()),
        Behaviour::Text(r#"{"keys": []}"#.to_owned()),
        Behaviour::Text(
            r#"{"keys": [{"kty": "oct", "k": "AAAA"}, {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}]}"#
                .to_owned(),
        ),
        Behaviour::OtherIssuer,
        Behaviour::KeysAt("http://10.0.0.1/keys".to_owned()),
        Behaviour::KeysAt("file:///etc/passwd".to_owned()),
    ] {
        let server = IssuerServer::start(behaviour.clone()).await;
        let issuers = Issuers::new(vec![config(&server.url)]);
        let token = signer.sign(json!({}), &claims(&server.url, json!({})));
        assert_eq!(
            verify(&issuers, &token).await,
            Err(TokenError::NoKeys),
            "{behaviour:?}"
        );
    }
    assert_eq!(elsewhere.requests("/keys"), 0, "redirects are not followed");
}

#[tokio::test]
async fn logout_tokens_prove_a_sign_out_and_nothing_else() {
    const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
    let (server, signer, issuers) = issuer().await;
    let right = json!({"aud": "codeyard", "jti": "a", "sid": "s", "events": {EVENT: {}}});
    let sign = |more: Value| {
        let mut all = claims(&server.url, right.clone());
        for (name, value) in more.as_object().unwrap() {
            match value {
                Value::Null => drop(all.as_object_mut().unwrap().remove(name)),
                value => all[name] = value.clone(),
            }
        }
        signer.sign(json!({"typ": "logout+jwt"}), &all)
    };
    let read = issuers.verify_logout(&sign(json!({})), now()).await.unwrap();
    assert_eq!(
        (read.subject.as_deref(), read.session.as_deref(), read.id.as_str()),
        (Some("1"), Some("s"), "a")
    );
    let check = async |more: Value, expected: TokenError| {
        let read = issuers.verify_logout(&sign(more.clone()), now()).await;
        assert_eq!(read, Err(expected), "{more}");
    };
    check(json!({"events": null}), TokenError::NotLogout).await;
    check(json!({"events": {EVENT: 1}}), TokenError::NotLogout).await;
    check(json!({"nonce": "a"}), TokenError::NotLogout).await;
    check(json!({"aud": "https://yard.example"}), TokenError::Audience).await;
    check(json!({"jti": null}), TokenError::NoClaim("jti")).await;
    check(json!({"sub": null, "sid": null}), TokenError::NoClaim("sub")).await;
    let old = issuers
        .verify_logout(&sign(json!({"exp": null, "iat": now() - 3600})), now())
        .await;
    assert!(matches!(old, Err(TokenError::Expired(_))), "{old:?}");
    let access = signer.sign(json!({"typ": "at+jwt"}), &claims(&server.url, json!({})));
    assert_eq!(
        issuers.verify_logout(&access, now()).await,
        Err(TokenError::NotLogout)
    );
}
