//! Checks the standard claims of tokens: type, audience and times.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::token::Header;
use crate::{IssuerConfig, TokenError};

/// The member of `events` that marks a logout token.
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// A logout token without `exp` is accepted for this long.
const LOGOUT_AGE: i64 = 120;

/// Longest lifetime of an access token (`exp - iat`), in seconds: 90 days.
const MAX_LIFE: i64 = 90 * 24 * 60 * 60;

/// Claims of access tokens that ID tokens lack. Entra ID writes `roles` into both kinds, but how the client proved
/// itself (`azpacr`, in tokens of version 1 `appidacr`) only into access tokens.
const ACCESS_CLAIMS: [&str; 5] = ["scope", "scp", "client_id", "azpacr", "appidacr"];

/// Who has signed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogoutClaims {
    /// The issuer's URL.
    pub issuer: String,
    /// Claim `sub`; `None` if only a session ends.
    pub subject: Option<String>,
    /// Claim `sid`; `None` if all sessions of the user end.
    pub session: Option<String>,
    /// Claim `jti`: a second token with it is a repetition.
    pub id: String,
    /// Claim `iat`, in milliseconds since 1970: later tokens are of later sessions.
    pub issued_ms: i64,
    /// When the token expires, in milliseconds since 1970; it need not be remembered any longer.
    pub until_ms: i64,
}

/// Checks an access token. Returns the paths that its audiences name, `None` for the whole gateway.
pub(crate) fn check_access(
    header: &Header,
    claims: &Map<String, Value>,
    config: &IssuerConfig,
    now: i64,
) -> Result<Option<Vec<String>>, TokenError> {
    let is_other = ["events", "nonce", "at_hash", "c_hash"]
        .iter()
        .any(|name| claims.contains_key(*name));
    if is_other || !is_access(header, claims) {
        return Err(TokenError::NotAccess);
    }
    if claims.contains_key("cnf") {
        return Err(TokenError::Bound);
    }
    check_times(claims, config.leeway, now)?;
    check_life(claims)?;
    audience(claims, &config.audiences).ok_or(TokenError::Audience)
}

/// Checks a logout token of OpenID Connect.
pub(crate) fn check_logout(
    header: &Header,
    claims: &Map<String, Value>,
    config: &IssuerConfig,
    now: i64,
) -> Result<LogoutClaims, TokenError> {
    let events = claims.get("events").and_then(Value::as_object);
    let is_logout = events.is_some_and(|events| events.get(LOGOUT_EVENT).is_some_and(Value::is_object));
    if !is_logout || claims.contains_key("nonce") || !has_type(header, "logout+jwt") {
        return Err(TokenError::NotLogout);
    }
    check_times(claims, config.leeway, now)?;
    let issued = time(claims, "iat")?.ok_or(TokenError::Time("iat"))?;
    let leeway = seconds(config.leeway);
    let end = time(claims, "exp")?
        .unwrap_or(issued.saturating_add(LOGOUT_AGE))
        .saturating_add(leeway);
    if now >= end {
        return Err(TokenError::Expired(now.saturating_sub(end)));
    }
    if !audiences(claims)
        .iter()
        .any(|one| config.logout_audiences.iter().any(|own| own == one))
    {
        return Err(TokenError::Audience);
    }
    let text = |name: &str| {
        claims
            .get(name)?
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let (subject, session) = (text("sub"), text("sid"));
    if subject.is_none() && session.is_none() {
        return Err(TokenError::NoClaim("sub"));
    }
    Ok(LogoutClaims {
        issuer: config.issuer.clone(),
        subject,
        session,
        id: text("jti").ok_or(TokenError::NoClaim("jti"))?,
        issued_ms: issued.saturating_mul(1000),
        until_ms: end.saturating_mul(1000),
    })
}

/// RFC 9068 and RFC 8725: the type tells kinds of tokens apart; older issuers write `JWT` or nothing.
fn has_type(header: &Header, own: &str) -> bool {
    written_type(header).is_none_or(|written| written == "jwt" || written == own)
}

/// The header's type in lower case, without `application/`.
fn written_type(header: &Header) -> Option<String> {
    let lower = header.typ.as_ref()?.to_ascii_lowercase();
    let bare = lower.strip_prefix("application/").unwrap_or(&lower);
    Some(bare.to_owned())
}

/// Whether a token is an access token. An ID token may have the same audience, so without the type of
/// RFC 9068 there must be a claim of access tokens.
fn is_access(header: &Header, claims: &Map<String, Value>) -> bool {
    // Keycloak names the kind of its tokens in a claim too.
    let is_bearer = claims.get("typ").map(|kind| kind.as_str() == Some("Bearer"));
    if !has_type(header, "at+jwt") || is_bearer == Some(false) {
        return false;
    }
    let is_typed = written_type(header).as_deref() == Some("at+jwt");
    is_typed || is_bearer.is_some() || ACCESS_CLAIMS.iter().any(|name| claims.contains_key(*name))
}

/// Checks that the token has an end, within the longest lifetime.
fn check_life(claims: &Map<String, Value>) -> Result<(), TokenError> {
    let end = time(claims, "exp")?.ok_or(TokenError::Time("exp"))?;
    let issued = time(claims, "iat")?.ok_or(TokenError::Time("iat"))?;
    match end.saturating_sub(issued) > MAX_LIFE {
        true => Err(TokenError::TooLong),
        false => Ok(()),
    }
}

/// Rounds the times of a checked token down, because its readers expect whole numbers.
pub(crate) fn make_times_whole(claims: &mut Map<String, Value>) {
    for name in ["iat", "nbf", "exp"] {
        if let Some(time) = claims.get_mut(name)
            && let Some(whole) = whole_seconds(time)
        {
            *time = Value::from(whole);
        }
    }
}

fn check_times(claims: &Map<String, Value>, leeway: Duration, now: i64) -> Result<(), TokenError> {
    let leeway = seconds(leeway);
    let issued = time(claims, "iat")?.ok_or(TokenError::Time("iat"))?;
    let begins = time(claims, "nbf")?.unwrap_or(issued).max(issued);
    if begins.saturating_sub(leeway) > now {
        return Err(TokenError::Early(begins.saturating_sub(now)));
    }
    match time(claims, "exp")? {
        Some(end) if end.saturating_add(leeway) <= now => Err(TokenError::Expired(now.saturating_sub(end))),
        _ => Ok(()),
    }
}

/// A time of RFC 7519 in whole seconds; `None` if the claim is absent.
fn time(claims: &Map<String, Value>, name: &'static str) -> Result<Option<i64>, TokenError> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => whole_seconds(value).map(Some).ok_or(TokenError::Time(name)),
    }
}

/// A number in the range of `i64`, rounded down.
fn whole_seconds(value: &Value) -> Option<i64> {
    /// The first number after the range: two to the power of 63.
    const END: f64 = 9_223_372_036_854_775_808.0;
    if let Some(whole) = value.as_i64() {
        return Some(whole);
    }
    let floor = value.as_f64()?.floor();
    if !(-END..END).contains(&floor) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole and in the range of i64")]
    let whole = floor as i64;
    Some(whole)
}

fn seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}

fn audiences(claims: &Map<String, Value>) -> Vec<&str> {
    match claims.get("aud") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// `Some(None)` if the token is for the whole gateway, `Some(paths)` if it is for places beneath, `None` if neither.
fn audience(claims: &Map<String, Value>, own: &[String]) -> Option<Option<Vec<String>>> {
    let found = audiences(claims);
    let bare = |text: &str| text.trim_end_matches('/').to_owned();
    if found
        .iter()
        .any(|one| own.iter().any(|own| bare(own) == bare(one)))
    {
        return Some(None);
    }
    let beneath = found.iter().filter_map(|one| {
        let own = own
            .iter()
            .filter(|own| own.starts_with("https://") || own.starts_with("http://"));
        own.filter_map(|own| one.strip_prefix(bare(own).as_str()))
            .find(|rest| rest.starts_with('/'))
    });
    let paths: Vec<_> = beneath.map(bare).collect();
    (!paths.is_empty()).then_some(Some(paths))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_audience_is_the_gateway_or_a_place_of_it() {
        let check = |aud: Value, expected: Option<Option<&[&str]>>| {
            let claims = json!({"aud": aud});
            let own = ["https://yard.example", "6f2c"].map(str::to_owned);
            let found = audience(claims.as_object().expect("an object"), &own);
            let owned = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect();
            let expected = expected.map(|paths| paths.map(owned));
            assert_eq!(found, expected, "{claims}");
        };
        check(json!("https://yard.example"), Some(None));
        check(json!("https://yard.example/"), Some(None));
        check(json!(["other", "6f2c"]), Some(None));
        check(
            json!("https://yard.example/servers/a/mcp"),
            Some(Some(&["/servers/a/mcp"])),
        );
        check(
            json!([
                "https://yard.example/servers/a/mcp",
                "other",
                "https://yard.example/servers/b/mcp/"
            ]),
            Some(Some(&["/servers/a/mcp", "/servers/b/mcp"])),
        );
        for wrong in [
            json!("https://yard.example.example"),
            json!("https://yar.example"),
            json!("6f2c/servers"),
            json!("6f2"),
            json!([]),
            json!(7),
            json!({"a": "6f2c"}),
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn times_have_a_leeway_and_are_numbers() {
        let check = |claims: Value, expected: Result<(), TokenError>| {
            let found = check_times(
                claims.as_object().expect("an object"),
                Duration::from_secs(30),
                1000,
            );
            assert_eq!(found, expected, "{claims}");
        };
        check(json!({"iat": 1000, "exp": 1001}), Ok(()));
        check(json!({"iat": 1030, "exp": 1060}), Ok(()));
        check(json!({"iat": 900, "exp": 971}), Ok(()));
        check(json!({"iat": 900, "exp": 970}), Err(TokenError::Expired(30)));
        check(json!({"iat": 4600, "exp": 9999}), Err(TokenError::Early(3600)));
        check(
            json!({"iat": 900, "nbf": 1031, "exp": 9999}),
            Err(TokenError::Early(31)),
        );
        check(json!({"iat": "900", "exp": 9999}), Err(TokenError::Time("iat")));
        check(
            json!({"iat": 900, "nbf": "1", "exp": 9999}),
            Err(TokenError::Time("nbf")),
        );
        check(json!({"iat": 900, "exp": "9999"}), Err(TokenError::Time("exp")));
        check(json!({"exp": 9999}), Err(TokenError::Time("iat")));
        check(json!({"iat": 999.5, "exp": 1000.5}), Ok(()));
        check(json!({"iat": 1030.9, "exp": 1060.1}), Ok(()));
        check(json!({"iat": 900, "exp": 970.9}), Err(TokenError::Expired(30)));
        let farthest = Err(TokenError::Expired(i64::MAX));
        check(json!({"iat": i64::MIN, "exp": i64::MIN}), farthest);
        check(json!({"iat": 900, "exp": i64::MAX}), Ok(()));
        check(json!({"iat": 900, "exp": 1e19}), Err(TokenError::Time("exp")));
        check(json!({"iat": 900, "exp": u64::MAX}), Err(TokenError::Time("exp")));
    }

    #[test]
    fn an_access_token_lives_for_90_days_at_most() {
        let check = |claims: Value, expected: Result<(), TokenError>| {
            let found = check_life(claims.as_object().expect("an object"));
            assert_eq!(found, expected, "{claims}");
        };
        check(json!({"iat": 1000, "exp": 1000 + MAX_LIFE}), Ok(()));
        check(
            json!({"iat": 1000, "exp": 1001 + MAX_LIFE}),
            Err(TokenError::TooLong),
        );
        check(
            json!({"iat": i64::MIN, "exp": i64::MAX}),
            Err(TokenError::TooLong),
        );
        check(json!({"iat": 1000}), Err(TokenError::Time("exp")));
    }

    #[test]
    fn checked_times_become_whole() {
        let mut claims = json!({"iat": 10.9, "nbf": -0.5, "exp": 20, "auth_time": 1.5});
        make_times_whole(claims.as_object_mut().expect("an object"));
        assert_eq!(claims, json!({"iat": 10, "nbf": -1, "exp": 20, "auth_time": 1.5}));
    }
}
