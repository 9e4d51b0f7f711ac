//! A host in this process with one server, and principals that run programs.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use broker::RunClient;
use environment::Machine;
use registry::Sources;
use serde_json::{Value, json};
use server::{Caller, Host};
use settings::{Arguments, Program};
use surfaces::{CodeService as _, Execute, RunReport, SearchCounts};
use tempfile::TempDir;
use test_support::{ServerDefinition, codeyard_binary};
use tokio_util::sync::CancellationToken;
use types::{
    Appearance, Granted, Language, Limits, Principal, Reach, Results, RunProfile, RunSpec, Selector,
    SessionName, Status, Validation,
};
use upstream_wire::oauth::Logins;

/// A login to the server `far`.
const LOGIN: &str = r#"{
    "format": 1, "server": "http://127.0.0.1:9/mcp", "resource": "http://127.0.0.1:9/mcp", "issuer": null,
    "token_endpoint": "http://127.0.0.1:9/token", "revocation_endpoint": null,
    "client": {"id": "codeyard", "secret": null, "in_body": false}, "scopes": [],
    "tokens": {"access": "acme-token", "refresh": null, "received_at": 0, "expires_at": null}
}"#;

pub struct Yard {
    pub host: Host,
    pub records: store::RecordsConfig,
    pub directory: TempDir,
}

/// The functions a program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    Code,
    Bridge,
}

impl Yard {
    /// A host with a server for everyone and the remote server `far`, to which only `owner` has a login.
    pub fn new(owner: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        // Guests run as other kernel users.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let (servers, settings) = (
            directory.path().join("mcp.json"),
            directory.path().join("codeyard.toml"),
        );
        let stub = ServerDefinition::stub_with_extras().to_json();
        // Nothing listens there: requests fail for every principal.
        let far = json!({"url": "http://127.0.0.1:9/mcp"});
        fs::write(
            &servers,
            json!({"mcpServers": {"stub": stub, "far": far}}).to_string(),
        )
        .unwrap();
        // Idle sessions would count as left behind.
        fs::write(&settings, "[pool]\nsize = 0\n").unwrap();
        let data = directory.path().join("data");
        let arguments = Arguments {
            sources: Sources {
                files: vec![servers],
                data: Some(data),
            },
            settings: Some(settings),
            ..Arguments::default()
        };
        let loaded = settings::load(&arguments, &Machine).unwrap();
        let records = loaded.records();
        let program = Program {
            executable: codeyard_binary(),
            principal: Principal::local(),
        };
        let mut parts = loaded.into_parts(program, &Machine);
        let (owner, logins) = (owner.parse().unwrap(), directory.path().join("data/logins"));
        let theirs = logins.join("of").join(owner_directory(&owner));
        fs::create_dir_all(&theirs).unwrap();
        let login = theirs.join("far.json");
        fs::write(&login, LOGIN).unwrap();
        fs::set_permissions(&login, fs::Permissions::from_mode(0o600)).unwrap();
        parts.upstream.logins = Some(Logins::of(&owner, &logins));
        parts.upstream.supervisor = vec![test_support::stub_server().into(), "__supervise".into()];
        Self {
            host: Host::new(parts).unwrap(),
            records,
            directory,
        }
    }

    pub fn caller(&self, principal: &str) -> Caller {
        self.host.caller(principal.parse().unwrap())
    }

    /// Files below the data directory, except shared ones and caches of definitions.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.directory.path().join("data")];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => open.push(entry.path()),
                    _ => found.push(entry.path()),
                }
            }
        }
        found
    }
}

/// The principal's directory below all logins.
fn owner_directory(owner: &Principal) -> String {
    owner.to_string().replace('/', "%2f")
}

pub async fn run(caller: &Caller, surface: Surface, session: Selector, code: String) -> RunReport {
    run_until(caller, surface, session, code, CancellationToken::new()).await
}

pub async fn run_until(
    caller: &Caller,
    surface: Surface,
    session: Selector,
    code: String,
    cancel: CancellationToken,
) -> RunReport {
    let profile = match surface {
        Surface::Code => RunProfile {
            results: Results::UpTo(u64::MAX),
            ..RunProfile::default()
        },
        Surface::Bridge => RunProfile {
            validate: Validation::ByServer,
            reach: Reach::Only(std::sync::Arc::default()),
            appearance: Appearance::Bridge(std::sync::Arc::default()),
            ..RunProfile::default()
        },
    };
    let request = Execute {
        spec: RunSpec {
            code,
            language: Language::Python,
            session,
            granted: Granted {
                limits: Limits::default(),
                named: Vec::new(),
            },
        },
        profile,
        receipt: false,
        searched: SearchCounts::default(),
        trace: None,
    };
    caller
        .execute(request, cancel, RunClient::default())
        .await
        .unwrap()
}

#[track_caller]
pub fn result(report: &RunReport) -> Value {
    assert_eq!(report.outcome.status, Status::Completed, "{report:?}");
    report.outcome.result.clone().unwrap_or_default()
}

pub fn named(session: &str) -> Selector {
    Selector::Named(SessionName::new(session))
}

pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        write!(quoted, "\\U{:08x}", u32::from(letter)).unwrap();
    }
    quoted.push('\'');
    quoted
}
