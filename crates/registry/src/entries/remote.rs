//! Reads a remote server's fields: address, HTTP transport, credentials.

use std::collections::BTreeMap;

use upstream_wire::{Http, HttpKind, LoginOwner, OAuth};

use super::{EntryReader, Expansion};
use crate::json::JsonValue;

/// Fields for the HTTP address; clients differ.
pub(super) const ADDRESSES: [&str; 3] = ["url", "serverUrl", "httpUrl"];

pub(super) const FIELDS: [&str; 19] = [
    "trusted",
    "maxCalls",
    "maxCallsPerMinute",
    "sandbox",
    "limits",
    "url",
    "serverUrl",
    "httpUrl",
    "type",
    "connection_type",
    "headers",
    "bearerTokenFile",
    "oauth",
    "login",
    "description",
    "timeout",
    "allow",
    "deny",
    "tags",
];

/// Fields for the HTTP transport; clients differ.
const TYPES: [&str; 2] = ["type", "connection_type"];
const OAUTH: [&str; 3] = ["clientId", "clientSecretFile", "scopes"];

const KINDS: [(&str, HttpKind); 4] = [
    ("http", HttpKind::Streamable),
    ("streamable-http", HttpKind::Streamable),
    ("streamableHttp", HttpKind::Streamable),
    ("sse", HttpKind::Sse),
];

/// Whether the entry has an address, or a remote server's type and no command.
pub(super) fn is_remote(entries: &[(String, JsonValue)]) -> bool {
    let has = |key: &str| {
        entries
            .iter()
            .any(|(name, node)| name == key && *node != JsonValue::Null)
    };
    let is_typed = entries.iter().any(|(name, node)| {
        TYPES.contains(&name.as_str())
            && matches!(node, JsonValue::String(kind) if KINDS.iter().any(|(name, _)| name == kind))
    });
    ADDRESSES.into_iter().any(has) || (is_typed && !has("command"))
}

fn invalid(kind: &str) -> String {
    let kind: String = kind.escape_debug().take(40).collect();
    format!("Invalid connection type: {kind}. Must be sse, stdio, or http")
}

impl EntryReader<'_> {
    /// Checks the type of an entry with neither command nor address.
    pub(super) fn check_type(&mut self, field: &str, node: Option<&JsonValue>) {
        if let Some(JsonValue::String(kind)) = node
            && kind != "stdio"
        {
            self.diagnostics.mistake(&format!("{field}.type"), invalid(kind));
        }
    }

    /// The server's HTTP settings. Without an address, reports a mistake and returns `None`.
    pub(super) fn remote(
        &mut self,
        field: &str,
        entries: &[(String, JsonValue)],
        expansion: Expansion<'_>,
    ) -> Option<Http> {
        let get = |key: &str| {
            let found = entries.iter().find(|(name, _)| name == key);
            found
                .map(|(_, node)| node)
                .filter(|node| **node != JsonValue::Null)
        };
        if get("command").is_some() {
            let what = "conflicts with the address: a server has either a command or an address; remove one of \
            them";
            self.diagnostics.mistake(&format!("{field}.command"), what);
        }
        for key in ["sandbox", "limits"] {
            if get(key).is_some() {
                let what = "applies only to servers that codeyard starts; remove it";
                self.diagnostics.mistake(&format!("{field}.{key}"), what);
            }
        }
        let named = TYPES.into_iter().find(|name| get(name).is_some());
        let named = named.unwrap_or("type");
        let kind = self.kind(&format!("{field}.{named}"), get(named));
        let headers = self.headers(&format!("{field}.headers"), get("headers"), expansion);
        let bearer_token_file = self
            .string(
                &format!("{field}.bearerTokenFile"),
                get("bearerTokenFile"),
                expansion,
            )
            .map(|file| self.directory().join(file));
        if bearer_token_file.is_some() && headers.contains_key("authorization") {
            let what = "conflicts with `Authorization` in `headers`; remove one of them";
            self.diagnostics
                .mistake(&format!("{field}.bearerTokenFile"), what);
        }
        let oauth = self.oauth(&format!("{field}.oauth"), get("oauth"), expansion);
        let has_credentials = bearer_token_file.is_some() || headers.contains_key("authorization");
        if get("oauth").is_some() && has_credentials {
            let what = "conflicts with the definition's other credentials; remove one of them";
            self.diagnostics.mistake(&format!("{field}.oauth"), what);
        }
        let login = self.login(&format!("{field}.login"), get("login"), expansion);
        if login == LoginOwner::User && has_credentials {
            let what = "conflicts with the definition's other credentials, which all users would share; remove one of them";
            self.diagnostics.mistake(&format!("{field}.login"), what);
        }
        Some(Http {
            url: self.url(field, entries, expansion)?,
            kind,
            headers,
            bearer_token_file,
            oauth,
            login,
        })
    }

    fn login(&mut self, field: &str, node: Option<&JsonValue>, expansion: Expansion<'_>) -> LoginOwner {
        match self.string(field, node, expansion).as_deref() {
            None | Some("shared") => LoginOwner::Shared,
            Some("user") => LoginOwner::User,
            Some(_) => {
                self.diagnostics.mistake(field, "must be `shared` or `user`");
                LoginOwner::Shared
            }
        }
    }

    fn oauth(&mut self, field: &str, node: Option<&JsonValue>, expansion: Expansion<'_>) -> OAuth {
        let mut oauth = OAuth::default();
        for (key, node) in self.members(field, node, &OAUTH) {
            let path = format!("{field}.{key}");
            match key.as_str() {
                "clientId" => oauth.client_id = self.filled(&path, node, expansion),
                "clientSecretFile" => {
                    let file = self.filled(&path, node, expansion);
                    oauth.client_secret_file = file.map(|file| self.directory().join(file));
                }
                _ => oauth.scopes = self.scopes(&path, node, expansion),
            }
        }
        if oauth.client_secret_file.is_some() && oauth.client_id.is_none() {
            let what = "has no effect without `clientId`; add the client of the secret";
            self.diagnostics
                .mistake(&format!("{field}.clientSecretFile"), what);
        }
        oauth
    }

    fn filled(&mut self, field: &str, node: &JsonValue, expansion: Expansion<'_>) -> Option<String> {
        let text = self.string(field, Some(node), expansion)?;
        if text.trim().is_empty() {
            self.diagnostics
                .mistake(field, "is empty; write a value or leave the field out");
            return None;
        }
        Some(text)
    }

    fn scopes(&mut self, field: &str, node: &JsonValue, expansion: Expansion<'_>) -> Vec<String> {
        let scopes = self.strings(field, Some(node), expansion);
        // Characters of RFC 6749, section 3.3.
        let is_scope = |c: char| matches!(c, '!'..='~') && c != '"' && c != '\\';
        for (index, scope) in scopes.iter().enumerate() {
            if expansion.is_on() && (scope.is_empty() || !scope.chars().all(is_scope)) {
                let what =
                    "is not a scope: a scope is one word of plain characters; write each scope separately";
                self.diagnostics.mistake(&format!("{field}[{index}]"), what);
            }
        }
        scopes
    }

    fn url(
        &mut self,
        field: &str,
        entries: &[(String, JsonValue)],
        expansion: Expansion<'_>,
    ) -> Option<String> {
        let mut addresses = entries
            .iter()
            .filter(|(key, node)| ADDRESSES.contains(&key.as_str()) && *node != JsonValue::Null);
        let Some((key, node)) = addresses.next() else {
            let what = "is missing; write the address of the server, as in https://example.com/mcp";
            self.diagnostics.mistake(&format!("{field}.url"), what);
            return None;
        };
        if let Some((other, _)) = addresses.next() {
            let what = format!("conflicts with `{key}`; write one address");
            self.diagnostics.mistake(&format!("{field}.{other}"), what);
        }
        let path = format!("{field}.{key}");
        let url = self.string(&path, Some(node), expansion)?;
        if expansion.is_on()
            && let Err(error) = upstream_wire::check_url(&url)
        {
            self.diagnostics.mistake(&path, error.to_string());
        }
        Some(url)
    }

    fn kind(&mut self, field: &str, node: Option<&JsonValue>) -> HttpKind {
        match node {
            None => HttpKind::Any,
            Some(JsonValue::String(kind)) => match KINDS.iter().find(|(name, _)| name == kind) {
                Some((_, kind)) => *kind,
                None if kind == "stdio" => {
                    let what = "expected `http` or `sse` for an address; without `type` codeyard tries both";
                    self.diagnostics.mistake(field, what);
                    HttpKind::Any
                }
                None => {
                    self.diagnostics.mistake(field, invalid(kind));
                    HttpKind::Any
                }
            },
            Some(other) => {
                self.wrong(field, "a string", other);
                HttpKind::Any
            }
        }
    }

    fn headers(
        &mut self,
        field: &str,
        node: Option<&JsonValue>,
        expansion: Expansion<'_>,
    ) -> BTreeMap<String, String> {
        let mut headers = BTreeMap::new();
        let entries = match node {
            None => return headers,
            Some(JsonValue::Object(entries)) => entries,
            Some(other) => {
                self.wrong(field, "an object of strings", other);
                return headers;
            }
        };
        for (name, value) in entries {
            let path = format!("{field}.{name}");
            let Some(value) = self.string(&path, Some(value), expansion) else {
                continue;
            };
            // An unexpanded value is never sent, so skip the check.
            if expansion.is_on()
                && let Err(what) = upstream_wire::check_header(name, &value)
            {
                self.diagnostics.mistake(&path, what);
            } else if headers.insert(name.to_ascii_lowercase(), value).is_some() {
                self.diagnostics
                    .mistake(&path, "the header appears more than once");
            }
        }
        headers
    }
}
