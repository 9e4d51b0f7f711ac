//! `[[gateway.issuers]]`: OpenID Connect issuers whose tokens admit users.

mod rules;

use std::collections::BTreeMap;
use std::time::Duration;

use environment::Diagnostics;
use identity::{ExistingUsers, NewUsers, Role, SignOnRules};
use oidc::{Algorithm, IssuerConfig, MAX_LEEWAY, check_issuer};

use super::table::{Section, Value, unknown};

const KEYS: [&str; 13] = [
    "issuer",
    "audiences",
    "logout_audiences",
    "algorithms",
    "jwks_uri",
    "leeway",
    "user_claim",
    "new_users",
    "existing_users",
    "role",
    "scopes",
    "agents",
    "claims",
];

/// Most issuers.
const MAX: usize = 16;

/// Most entries of a list.
const MAX_LIST: usize = 1000;

/// Longest text, in bytes.
const MAX_TEXT: usize = 2048;

const LEEWAY: Duration = Duration::from_secs(30);

#[derive(Debug)]
struct WrittenIssuer {
    issuer: Option<String>,
    audiences: Option<Vec<String>>,
    logout_audiences: Option<Vec<String>>,
    algorithms: Vec<Algorithm>,
    jwks_uri: Option<String>,
    leeway: Duration,
    rules: SignOnRules,
}

/// Reads all issuers, and collects the mistakes of all.
pub(super) fn read(value: &Value<'_>, diagnostics: &mut Diagnostics) -> Vec<IssuerConfig> {
    let Some(tables) = value.tables() else {
        diagnostics.mistake(
            "gateway.issuers",
            "write each issuer as a section of its own, headed `[[gateway.issuers]]`",
        );
        return Vec::new();
    };
    if tables.len() > MAX {
        let message = format!("{} issuers are too many; write at most {MAX}", tables.len());
        diagnostics.mistake("gateway.issuers", message);
        return Vec::new();
    }
    let mut issuers: Vec<IssuerConfig> = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let field = format!("gateway.issuers[{index}]");
        let Some(issuer) = read_one(&table, &field, diagnostics) else {
            continue;
        };
        if issuers.iter().any(|other| other.issuer == issuer.issuer) {
            diagnostics.mistake(
                &format!("{field}.issuer"),
                "another section has this issuer; write all of its audiences and claims into one",
            );
        }
        issuers.push(issuer);
    }
    issuers
}

fn read_one(table: &Section<'_>, field: &str, diagnostics: &mut Diagnostics) -> Option<IssuerConfig> {
    let mut written = WrittenIssuer::default();
    let before = diagnostics.mistakes.len();
    for (key, value) in table.entries() {
        let place = format!("{field}.{key}");
        match key {
            "claims" => written.rules.claims = rules::read_claims(&value, &place, diagnostics),
            "scopes" => written.rules.scopes = rules::read_scopes(&value, &place, diagnostics),
            "algorithms" => written.algorithms = read_algorithms(&value, &place, diagnostics),
            _ => {
                if let Err(message) = written.set(key, &value) {
                    diagnostics.mistake(&place, message);
                }
            }
        }
    }
    for (key, is_missing, remedy) in [
        (
            "issuer",
            !has(table, "issuer"),
            "write its URL as in the claim `iss` of its tokens",
        ),
        (
            "audiences",
            !has(table, "audiences"),
            "write what its tokens for this gateway have in `aud`, such as this gateway's URL",
        ),
    ] {
        if is_missing {
            diagnostics.mistake(field, format!("`{key}` is missing; {remedy}"));
        }
    }
    let rules = &written.rules;
    if (rules.new_users, rules.existing_users) == (NewUsers::Refuse, ExistingUsers::Refuse) {
        let message = "with `new_users = \"refuse\"`, nobody could sign on; \
             add `existing_users = \"link\"`, which admits users whom an administrator created";
        diagnostics.mistake(&format!("{field}.new_users"), message);
    }
    (diagnostics.mistakes.len() == before)
        .then(|| written.finish())
        .flatten()
}

fn has(table: &Section<'_>, key: &str) -> bool {
    table.entries().iter().any(|(written, _)| *written == key)
}

fn read_algorithms(value: &Value<'_>, field: &str, diagnostics: &mut Diagnostics) -> Vec<Algorithm> {
    let names = match texts(value) {
        Ok(names) => names,
        Err(message) => {
            diagnostics.mistake(field, message);
            return Vec::new();
        }
    };
    let mut algorithms = Vec::new();
    for name in names {
        match name.parse::<Algorithm>() {
            Ok(algorithm) => algorithms.push(algorithm),
            Err(bad) => diagnostics.mistake(field, bad.to_string()),
        }
    }
    algorithms
}

/// A list of texts, at least one.
fn texts(value: &Value<'_>) -> Result<Vec<String>, String> {
    let texts = value.strings()?;
    match texts.len() {
        0 => return Err("the array is empty; leave the key out, or name at least one".to_owned()),
        1..=MAX_LIST => {}
        more => return Err(format!("{more} entries are too many; write at most {MAX_LIST}")),
    }
    texts.into_iter().map(|one| checked(&one)).collect()
}

/// A text that can be compared with a claim.
fn checked(text: &str) -> Result<String, String> {
    match (1..=MAX_TEXT).contains(&text.len()) {
        true => Ok(text.to_owned()),
        false => Err(format!("a text has 1 to {MAX_TEXT} bytes")),
    }
}

// === impl WrittenIssuer ===

impl Default for WrittenIssuer {
    fn default() -> Self {
        Self {
            issuer: None,
            audiences: None,
            logout_audiences: None,
            algorithms: vec![Algorithm::Rs256, Algorithm::Es256],
            jwks_uri: None,
            leeway: LEEWAY,
            rules: SignOnRules {
                user_claim: "email".to_owned(),
                new_users: NewUsers::Create,
                existing_users: ExistingUsers::Refuse,
                role: Role::Viewer,
                claims: Vec::new(),
                scopes: BTreeMap::new(),
                agents: None,
            },
        }
    }
}

impl WrittenIssuer {
    fn set(&mut self, key: &str, value: &Value<'_>) -> Result<(), String> {
        match key {
            "issuer" => self.issuer = Some(url(value)?),
            "jwks_uri" => self.jwks_uri = Some(url(value)?),
            "audiences" => self.audiences = Some(texts(value)?),
            "logout_audiences" => self.logout_audiences = Some(texts(value)?),
            "leeway" => self.leeway = value.written().duration(Duration::ZERO..=MAX_LEEWAY)?,
            "user_claim" => self.rules.user_claim = checked(value.string()?)?,
            "new_users" => {
                self.rules.new_users =
                    value.one_of([("create", NewUsers::Create), ("refuse", NewUsers::Refuse)])?;
            }
            "existing_users" => {
                self.rules.existing_users =
                    value.one_of([("link", ExistingUsers::Link), ("refuse", ExistingUsers::Refuse)])?;
            }
            "role" => self.rules.role = rules::role(value)?,
            "agents" => self.rules.agents = Some(texts(value)?.into_iter().collect()),
            _ => return Err(unknown("key", key, KEYS)),
        }
        Ok(())
    }

    fn finish(self) -> Option<IssuerConfig> {
        let audiences = self.audiences?;
        Some(IssuerConfig {
            issuer: self.issuer?,
            logout_audiences: self.logout_audiences.unwrap_or_else(|| audiences.clone()),
            audiences,
            algorithms: self.algorithms,
            jwks_uri: self.jwks_uri,
            leeway: self.leeway,
            rules: self.rules,
        })
    }
}

fn url(value: &Value<'_>) -> Result<String, String> {
    let text = checked(value.string()?)?;
    check_issuer(&text).map_err(|bad| bad.to_string())?;
    Ok(text)
}
