//! Reads the fields of a server that is connected to: its address, which way over HTTP it speaks, and what lets us in.

use std::collections::BTreeMap;

use upstream_wire::{Http, HttpKind, OAuth};

use super::{Reader, Variables};
use crate::json::Node;

/// Fields by which clients mark a server that is reached over HTTP.
pub(super) const ADDRESSES: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// Our fields of a remote server, beside its address.
pub(super) const FIELDS: [&str; 16] = [
    "trusted",
    "maxCalls",
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
    "description",
    "timeout",
    "allow",
    "deny",
];

/// Fields that say which way over HTTP is spoken.
const TYPES: [&str; 2] = ["type", "connection_type"];
/// Fields of `oauth`.
const OAUTH: [&str; 3] = ["clientId", "clientSecretFile", "scopes"];

/// Values of `type`.
const KINDS: [(&str, HttpKind); 4] = [
    ("http", HttpKind::Streamable),
    ("streamable-http", HttpKind::Streamable),
    ("streamableHttp", HttpKind::Streamable),
    ("sse", HttpKind::Sse),
];

/// Whether the entry says that it is of a remote server, by its address or by its type.
pub(super) fn is_remote(entries: &[(String, Node)]) -> bool {
    let has = |key: &str| {
        entries
            .iter()
            .any(|(name, node)| name == key && *node != Node::Null)
    };
    let is_typed = entries.iter().any(|(name, node)| {
        TYPES.contains(&name.as_str())
            && matches!(node, Node::String(kind) if KINDS.iter().any(|(name, _)| name == kind))
    });
    ADDRESSES.into_iter().any(has) || (is_typed && !has("command"))
}

/// What is said of a type that is none.
fn invalid(kind: &str) -> String {
    let kind: String = kind.escape_debug().take(40).collect();
    format!("Invalid connection type: {kind}. Must be sse, stdio, or http")
}

impl Reader<'_> {
    /// Judges the type of an entry that says neither how the server is started nor where it is.
    pub(super) fn judge_type(&mut self, field: &str, node: Option<&Node>) {
        if let Some(Node::String(kind)) = node
            && kind != "stdio"
        {
            self.findings.mistake(&format!("{field}.type"), invalid(kind));
        }
    }

    /// The remote part of an entry; `None` with a mistake if it cannot be used.
    pub(super) fn remote(
        &mut self,
        field: &str,
        entries: &[(String, Node)],
        variables: Variables<'_>,
    ) -> Option<Http> {
        let get = |key: &str| {
            let found = entries.iter().find(|(name, _)| name == key);
            found.map(|(_, node)| node).filter(|node| **node != Node::Null)
        };
        if get("command").is_some() {
            let what =
                "stands beside an address; a server is either started or connected to, so remove one of them";
            self.findings.mistake(&format!("{field}.command"), what);
        }
        for key in ["sandbox", "limits"] {
            if get(key).is_some() {
                let what = "is for servers that codeyard starts, and this one is somebody else's; remove it";
                self.findings.mistake(&format!("{field}.{key}"), what);
            }
        }
        let named = TYPES.into_iter().find(|name| get(name).is_some());
        let named = named.unwrap_or("type");
        let kind = self.kind(&format!("{field}.{named}"), get(named));
        let headers = self.headers(&format!("{field}.headers"), get("headers"), variables);
        let bearer_token_file = self
            .string(
                &format!("{field}.bearerTokenFile"),
                get("bearerTokenFile"),
                variables,
            )
            .map(|file| self.directory().join(file));
        if bearer_token_file.is_some() && headers.contains_key("authorization") {
            let what = "would send a second `Authorization` beside that of `headers`; remove one of them";
            self.findings.mistake(&format!("{field}.bearerTokenFile"), what);
        }
        let oauth = self.oauth(&format!("{field}.oauth"), get("oauth"), variables);
        let lets_in = bearer_token_file.is_some() || headers.contains_key("authorization");
        if get("oauth").is_some() && lets_in {
            let what = "is for a server that one logs in to, and this definition lets codeyard in by itself; remove one of them";
            self.findings.mistake(&format!("{field}.oauth"), what);
        }
        Some(Http {
            url: self.url(field, entries, variables)?,
            kind,
            headers,
            bearer_token_file,
            oauth,
        })
    }

    fn oauth(&mut self, field: &str, node: Option<&Node>, variables: Variables<'_>) -> OAuth {
        let mut oauth = OAuth::default();
        for (key, node) in self.parts(field, node, &OAUTH) {
            let path = format!("{field}.{key}");
            match key.as_str() {
                "clientId" => oauth.client_id = self.filled(&path, node, variables),
                "clientSecretFile" => {
                    let file = self.filled(&path, node, variables);
                    oauth.client_secret_file = file.map(|file| self.directory().join(file));
                }
                _ => oauth.scopes = self.scopes(&path, node, variables),
            }
        }
        if oauth.client_secret_file.is_some() && oauth.client_id.is_none() {
            let what = "is of no use without `clientId`; write the client that the secret belongs to";
            self.findings.mistake(&format!("{field}.clientSecretFile"), what);
        }
        oauth
    }

    fn filled(&mut self, field: &str, node: &Node, variables: Variables<'_>) -> Option<String> {
        let text = self.string(field, Some(node), variables)?;
        if text.trim().is_empty() {
            self.findings
                .mistake(field, "is empty; write a value or leave the field out");
            return None;
        }
        Some(text)
    }

    fn scopes(&mut self, field: &str, node: &Node, variables: Variables<'_>) -> Vec<String> {
        let scopes = self.strings(field, Some(node), variables);
        // What RFC 6749 takes for one.
        let is_scope = |c: char| matches!(c, '!'..='~') && c != '"' && c != '\\';
        for (index, scope) in scopes.iter().enumerate() {
            let is_final = variables.are_expanded();
            if is_final && (scope.is_empty() || !scope.chars().all(is_scope)) {
                let what = "is no scope: one word of plain characters; write each scope by itself";
                self.findings.mistake(&format!("{field}[{index}]"), what);
            }
        }
        scopes
    }

    fn url(&mut self, field: &str, entries: &[(String, Node)], variables: Variables<'_>) -> Option<String> {
        let mut addresses = entries
            .iter()
            .filter(|(key, node)| ADDRESSES.contains(&key.as_str()) && *node != Node::Null);
        let Some((key, node)) = addresses.next() else {
            let what = "is missing; write the address of the server, as in https://example.com/mcp";
            self.findings.mistake(&format!("{field}.url"), what);
            return None;
        };
        if let Some((other, _)) = addresses.next() {
            let what = format!("stands beside `{key}`; write one address");
            self.findings.mistake(&format!("{field}.{other}"), what);
        }
        let path = format!("{field}.{key}");
        let url = self.string(&path, Some(node), variables)?;
        if variables.are_expanded()
            && let Err(error) = upstream_wire::check_url(&url)
        {
            self.findings.mistake(&path, error.to_string());
        }
        Some(url)
    }

    fn kind(&mut self, field: &str, node: Option<&Node>) -> HttpKind {
        match node {
            None => HttpKind::Any,
            Some(Node::String(kind)) => match KINDS.iter().find(|(name, _)| name == kind) {
                Some((_, kind)) => *kind,
                None if kind == "stdio" => {
                    let what = "expected `http` or `sse` beside an address; without `type` both are tried";
                    self.findings.mistake(field, what);
                    HttpKind::Any
                }
                None => {
                    self.findings.mistake(field, invalid(kind));
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
        node: Option<&Node>,
        variables: Variables<'_>,
    ) -> BTreeMap<String, String> {
        let mut headers = BTreeMap::new();
        let entries = match node {
            None => return headers,
            Some(Node::Object(entries)) => entries,
            Some(other) => {
                self.wrong(field, "an object of strings", other);
                return headers;
            }
        };
        for (name, value) in entries {
            let path = format!("{field}.{name}");
            let Some(value) = self.string(&path, Some(value), variables) else {
                continue;
            };
            // What is written is checked once it is what will be sent.
            if variables.are_expanded()
                && let Err(what) = upstream_wire::check_header(name, &value)
            {
                self.findings.mistake(&path, what);
            } else if headers.insert(name.to_ascii_lowercase(), value).is_some() {
                self.findings.mistake(&path, "the header appears more than once");
            }
        }
        headers
    }
}
