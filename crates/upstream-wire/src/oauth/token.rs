//! Renews and revokes tokens, without a person.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, StatusCode, Url};
use serde_json::Value;

use super::clock::now;
use super::error::clean;
use super::fetch::Fetch;
use super::login_file::{ClientIdentity, Login, Tokens};

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TokenError {
    /// The authorization server has ended the login.
    Ended(String),
    /// A later attempt may succeed.
    Transient(String),
}

#[derive(Debug)]
pub(crate) struct TokenGrant {
    pub(crate) tokens: Tokens,
    /// Absent if all requested scopes were granted.
    pub(crate) scopes: Option<Vec<String>>,
}

pub(crate) async fn renew(fetch: &Fetch, login: &Login, refresh: &str) -> Result<TokenGrant, TokenError> {
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh),
        ("resource", &login.resource),
    ];
    let answer = post(fetch, &login.token_endpoint, &login.client, &form)
        .await
        .map_err(TokenError::Transient)?;
    if !answer.status.is_success() {
        return Err(answer.failure());
    }
    let mut granted = read(&answer.body).map_err(TokenError::Transient)?;
    // Without a new refresh token, the old one stays valid.
    granted.tokens.refresh.get_or_insert_with(|| refresh.to_owned());
    Ok(granted)
}

pub(crate) async fn revoke(fetch: &Fetch, login: &Login, endpoint: &str) -> Result<(), String> {
    let Some(tokens) = &login.tokens else {
        return Ok(());
    };
    // Revoking the refresh token also revokes its access tokens.
    let form = match &tokens.refresh {
        Some(refresh) => [("token", refresh.as_str()), ("token_type_hint", "refresh_token")],
        None => [
            ("token", tokens.access.as_str()),
            ("token_type_hint", "access_token"),
        ],
    };
    let answer = post(fetch, endpoint, &login.client, &form).await?;
    if answer.status.is_success() {
        Ok(())
    } else {
        Err(answer.message())
    }
}

pub(crate) fn read(body: &Value) -> Result<TokenGrant, String> {
    let text = |name: &str| body[name].as_str().filter(|text| !text.is_empty());
    let access = text("access_token").ok_or("it answered without a token")?;
    if let Some(kind) = text("token_type").filter(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(format!(
            "its token is of type '{}', not a bearer token",
            clean(kind)
        ));
    }
    let mut header = HeaderValue::from_str(access).map_err(|_| "its token cannot be sent in a header")?;
    header.set_sensitive(true);
    let lifetime = match &body["expires_in"] {
        Value::String(seconds) => seconds.parse().ok(),
        seconds => seconds.as_u64(),
    };
    let received_at = now();
    let scopes = text("scope").map(|scopes| scopes.split(' ').map(str::to_owned).collect());
    Ok(TokenGrant {
        tokens: Tokens {
            access: access.to_owned(),
            refresh: text("refresh_token").map(str::to_owned),
            received_at,
            expires_at: lifetime.map(|lifetime: u64| received_at.saturating_add(lifetime)),
        },
        scopes,
    })
}

struct TokenResponse {
    status: StatusCode,
    body: Value,
}

impl TokenResponse {
    fn failure(&self) -> TokenError {
        let message = self.message();
        // With these errors the login has ended, or the client is unknown and cannot renew.
        match self.body["error"].as_str() {
            Some("invalid_grant" | "invalid_client" | "unauthorized_client" | "invalid_target") => {
                TokenError::Ended(message)
            }
            _ => TokenError::Transient(message),
        }
    }

    fn message(&self) -> String {
        let text = |name: &str| self.body[name].as_str().map(clean);
        match (text("error"), text("error_description")) {
            (Some(error), Some(description)) => format!("{error}: {description}"),
            (Some(error), None) => error,
            _ => format!("it answered HTTP {}", self.status),
        }
    }
}

async fn post(
    fetch: &Fetch,
    endpoint: &str,
    client: &ClientIdentity,
    form: &[(&str, &str)],
) -> Result<TokenResponse, String> {
    let url = Url::parse(endpoint).map_err(|error| error.to_string())?;
    // Encodes the form: forms and queries have the same encoding.
    let mut encoded = url.clone();
    encoded.set_query(None);
    encoded.query_pairs_mut().extend_pairs(form);
    let mut request = Request::new(Method::POST, url);
    let headers = request.headers_mut();
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    match &client.secret {
        Some(secret) if !client.in_body => {
            headers.insert(AUTHORIZATION, basic(&client.id, secret)?);
        }
        secret => {
            let mut pairs = encoded.query_pairs_mut();
            pairs.append_pair("client_id", &client.id);
            pairs.extend_pairs(secret.iter().map(|secret| ("client_secret", secret)));
        }
    }
    let body = encoded.query().unwrap_or_default().to_owned();
    *request.body_mut() = Some(body.into());
    let response = fetch.send(request).await?;
    Ok(TokenResponse {
        status: response.status(),
        body: serde_json::from_slice(response.body()).unwrap_or_default(),
    })
}

/// Client id and secret, each form-encoded, as a `Basic` header.
fn basic(id: &str, secret: &str) -> Result<HeaderValue, String> {
    let encoded = |text: &str| {
        let mut url = Url::parse("x:").map_err(|error| error.to_string())?;
        url.query_pairs_mut().append_key_only(text);
        Ok::<_, String>(url.query().unwrap_or_default().to_owned())
    };
    let both = format!("{}:{}", encoded(id)?, encoded(secret)?);
    let value = format!("Basic {}", BASE64_STANDARD.encode(both));
    let mut value = HeaderValue::from_str(&value).map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_of_the_token_endpoint_are_read() {
        let answer = json!({"access_token": "a", "token_type": "bearer", "expires_in": 60, "scope": "x y"});
        let granted = read(&answer).expect("tokens");
        assert_eq!(granted.scopes, Some(vec!["x".to_owned(), "y".to_owned()]));
        let tokens = granted.tokens;
        assert_eq!(tokens.expires_at, Some(tokens.received_at + 60));
        assert_eq!(tokens.refresh, None);
        let check = |answer: Value, expected: &str| {
            let why = read(&answer).expect_err("no tokens");
            assert!(why.contains(expected), "{why}");
        };
        check(json!({}), "without a token");
        check(json!({"access_token": ""}), "without a token");
        check(json!({"access_token": "a\nb"}), "cannot be sent");
        check(
            json!({"access_token": "a", "token_type": "DPoP"}),
            "not a bearer token",
        );
    }

    #[test]
    fn a_refusal_ends_the_login_and_a_fault_does_not() {
        let check = |status: u16, body: Value, expected: TokenError| {
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(TokenResponse { status, body }.failure(), expected);
        };
        check(
            400,
            json!({"error": "invalid_grant", "error_description": "revoked"}),
            TokenError::Ended("invalid_grant: revoked".to_owned()),
        );
        check(
            503,
            Value::Null,
            TokenError::Transient("it answered HTTP 503 Service Unavailable".to_owned()),
        );
        check(
            400,
            json!({"error": "temporarily_unavailable"}),
            TokenError::Transient("temporarily_unavailable".to_owned()),
        );
    }

    #[test]
    fn names_and_secrets_are_encoded_before_they_are_joined() {
        let value = basic("a:b", "c d").expect("a header");
        let text = value.to_str().expect("text").trim_start_matches("Basic ");
        assert_eq!(BASE64_STANDARD.decode(text).expect("base64"), b"a%3Ab:c+d");
        assert!(value.is_sensitive());
    }
}
