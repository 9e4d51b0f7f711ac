//! Identifies the credential of a definition.
//!
//! Servers with one credential share a bucket of requests. The credential itself stays in its definition: only keyed
//! hashes are compared, with keys that live as long as the process.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use types::{Ownership, TeamId, TenantId, UserId, Visibility};
use upstream_wire::{Http, Stdio, Transport};

use crate::config::ServerConfig;

/// Keys of the hashes. Two hashes, because one 64-bit hash could collide.
#[derive(Debug, Default)]
pub(crate) struct CredentialKeys([RandomState; 2]);

/// Equal for equal credentials; meaningless to other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CredentialHash([u64; 2]);

/// The account that a server sees as its caller.
#[derive(Hash)]
struct Credential<'a> {
    destination: Destination<'a>,
    proof: Proof<'a>,
}

#[derive(Hash)]
enum Destination<'a> {
    /// Scheme, host and port.
    Origin(String),
    Command(&'a str),
}

#[derive(Hash)]
enum Proof<'a> {
    /// The header's scheme in lower case, and its value.
    Authorization(String, &'a str),
    TokenFile(&'a Path),
    /// All secret values of the definition.
    Secrets(&'a BTreeSet<String>),
    /// No secret, or a login. Only servers of one definer share such a bucket, so other tenants cannot use it up.
    Remote {
        client_id: Option<&'a str>,
        definer: Definer<'a>,
    },
    /// As `Remote`, for a process.
    Process {
        args: &'a [String],
        env: &'a BTreeMap<String, String>,
        cwd: Option<&'a Path>,
        definer: Definer<'a>,
    },
}

/// Who defined a server.
#[derive(Hash)]
enum Definer<'a> {
    /// From a file, or by an unrestricted admin for all users.
    Operator,
    Team(&'a TenantId, &'a TeamId),
    User(&'a TenantId, &'a UserId),
}

// === impl CredentialKeys ===

impl CredentialKeys {
    pub(crate) fn hash(&self, config: &ServerConfig) -> CredentialHash {
        let credential = Credential::of(config);
        CredentialHash(self.0.each_ref().map(|key| key.hash_one(&credential)))
    }
}

// === impl Credential ===

impl Credential<'_> {
    fn of(config: &ServerConfig) -> Credential<'_> {
        match &config.transport {
            Transport::Http(http) => Credential {
                destination: Destination::Origin(http.origin()),
                proof: remote_proof(http, config),
            },
            Transport::Stdio(stdio) => Credential {
                destination: Destination::Command(&stdio.command),
                proof: process_proof(stdio, config),
            },
        }
    }
}

fn remote_proof<'a>(http: &'a Http, config: &'a ServerConfig) -> Proof<'a> {
    if let Some(file) = &http.bearer_token_file {
        return Proof::TokenFile(file);
    }
    if let Some(authorization) = http.headers.get("authorization") {
        let (scheme, value) = authorization
            .trim()
            .split_once(' ')
            .unwrap_or(("", authorization));
        return Proof::Authorization(scheme.to_ascii_lowercase(), value.trim());
    }
    secrets(config).unwrap_or_else(|| Proof::Remote {
        client_id: http.oauth.client_id.as_deref(),
        definer: Definer::of(config.ownership.as_ref()),
    })
}

fn process_proof<'a>(stdio: &'a Stdio, config: &'a ServerConfig) -> Proof<'a> {
    secrets(config).unwrap_or_else(|| Proof::Process {
        args: &stdio.args,
        env: &stdio.env,
        cwd: stdio.cwd.as_deref(),
        definer: Definer::of(config.ownership.as_ref()),
    })
}

fn secrets(config: &ServerConfig) -> Option<Proof<'_>> {
    let secrets = &config.secrets.0;
    (!secrets.is_empty()).then_some(Proof::Secrets(secrets))
}

// === impl Definer ===

impl Definer<'_> {
    fn of(ownership: Option<&Ownership>) -> Definer<'_> {
        let Some(ownership) = ownership else {
            return Definer::Operator;
        };
        match (ownership.visibility, &ownership.team) {
            (Visibility::Public, _) => Definer::Operator,
            (_, Some(team)) => Definer::Team(&ownership.tenant, team),
            (_, None) => Definer::User(&ownership.tenant, &ownership.owner),
        }
    }
}

#[cfg(test)]
mod tests {
    use upstream_wire::SecretValues;

    use super::*;

    fn remote(url: &str, authorization: Option<&str>) -> ServerConfig {
        let header = |value: &str| ("authorization".to_owned(), value.to_owned());
        ServerConfig {
            transport: Transport::Http(Http {
                url: url.to_owned(),
                headers: authorization.map(header).into_iter().collect(),
                ..Http::default()
            }),
            ..ServerConfig::default()
        }
    }

    fn process(args: &[&str], secrets: &[&str]) -> ServerConfig {
        ServerConfig {
            transport: Transport::Stdio(Stdio {
                command: "npx".to_owned(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                ..Stdio::default()
            }),
            secrets: SecretValues(secrets.iter().map(|secret| (*secret).to_owned()).collect()),
            ..ServerConfig::default()
        }
    }

    fn of_team(team: &str, config: ServerConfig) -> ServerConfig {
        ServerConfig {
            ownership: Some(Ownership {
                tenant: TenantId::new("local"),
                owner: UserId::new("ann"),
                visibility: Visibility::Team,
                team: Some(TeamId::new(team)),
                created_ms: 0,
            }),
            ..config
        }
    }

    #[test]
    fn one_credential_is_one_destination_and_one_secret() {
        let keys = CredentialKeys::default();
        let same = |one: &ServerConfig, other: &ServerConfig| keys.hash(one) == keys.hash(other);
        let known = remote("https://example.com/mcp", Some("Bearer abc"));
        for (url, authorization, expected) in [
            ("https://example.com:443/other?x=1", "bearer  abc ", true),
            ("https://example.com/mcp", "Bearer abd", false),
            ("https://example.com/mcp", "Basic abc", false),
            ("https://example.com:8443/mcp", "Bearer abc", false),
            ("https://example.org/mcp", "Bearer abc", false),
        ] {
            let other = remote(url, Some(authorization));
            assert_eq!(same(&known, &other), expected, "{url} {authorization}");
            // Whoever knows a secret shares its bucket.
            assert_eq!(
                same(&known, &of_team("a", other)),
                expected,
                "{url} {authorization}"
            );
        }
        assert!(!same(&known, &remote("https://example.com/mcp", None)));
    }

    #[test]
    fn without_a_secret_each_definer_has_a_bucket() {
        let keys = CredentialKeys::default();
        let same = |one: &ServerConfig, other: &ServerConfig| keys.hash(one) == keys.hash(other);
        let open = || remote("https://example.com/mcp", None);
        assert!(same(&open(), &remote("https://example.com/other", None)));
        assert!(same(&of_team("a", open()), &of_team("a", open())));
        assert!(!same(&of_team("a", open()), &of_team("b", open())));
        assert!(!same(&of_team("a", open()), &open()));
    }

    #[test]
    fn processes_differ_by_their_secrets_or_else_by_their_arguments() {
        let keys = CredentialKeys::default();
        let same = |one: &ServerConfig, other: &ServerConfig| keys.hash(one) == keys.hash(other);
        assert!(same(&process(&["crm"], &["k"]), &process(&["crm", "-v"], &["k"])));
        assert!(!same(&process(&["crm"], &["k"]), &process(&["crm"], &["l"])));
        assert!(!same(&process(&["crm"], &[]), &process(&["shop"], &[])));
        assert!(same(&process(&["crm"], &[]), &process(&["crm"], &[])));
    }
}
