//! The broker between scripted host calls and real upstream servers.

mod answers;
mod calls;
mod learned;
mod loaded;
mod manual;
mod saved;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use broker::{Broker, RunClient, RunScope};
use policy::Policy;
use sandbox::{CallContext, HostCall, RunClock};
use serde_json::{Value, json};
use store::{FILE, Learning, Records, Saved};
use tempfile::TempDir;
use test_support::{ServerDefinition, stub_server};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tool_files::Scanner;
use types::{Appearance, HostCallError, Principal, Reach, RunId, RunProfile, TreeFile, Validation};
use upstream::{Hub, HubConfig, ServerConfig, Status};
use upstream_wire::oauth::Logins;
use upstream_wire::{Stdio, Transport};

/// Longer than anything that should not time out.
const LONG: Duration = Duration::from_secs(40);

struct World {
    broker: Broker,
    hub: Hub,
    data: TempDir,
}

#[derive(Default)]
struct Rules<'a> {
    allow: &'a [&'a str],
    deny: &'a [&'a str],
}

impl World {
    /// Names and texts of the files that describe a server's tools.
    async fn files_of(&self, alias: &str) -> BTreeMap<String, String> {
        let catalog = self.broker.catalog().await;
        let learned = self.broker.learned(&Principal::local()).await;
        let files = self.broker.files(&Principal::local(), &catalog, &learned);
        let own = |(path, file): (String, TreeFile<'_>)| {
            let name = path.strip_prefix(&format!("tools/{alias}/"))?.to_owned();
            Some((name, String::from_utf8(file.content()).expect("text")))
        };
        files.into_iter().filter_map(own).collect()
    }

    fn new(servers: &[(&str, ServerDefinition)]) -> Self {
        Self::with(Rules::default(), servers)
    }

    fn with(rules: Rules<'_>, servers: &[(&str, ServerDefinition)]) -> Self {
        let servers = servers.iter().map(|(name, definition)| server(name, definition));
        Self::of(rules, servers.collect(), None)
    }

    fn of(rules: Rules<'_>, servers: Vec<ServerConfig>, logins: Option<Logins>) -> Self {
        let owned = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
        let policy = Policy::new(policy::PolicyConfig {
            allow: owned(rules.allow),
            deny: owned(rules.deny),
            ..policy::PolicyConfig::default()
        });
        let hub = Hub::new(HubConfig {
            servers,
            cache_dir: None,
            asks_anew: false,
            log_dir: None,
            logins,
            supervisor: vec![stub_server().into(), "__supervise".into()],
            own_executable: PathBuf::from("/nowhere/codeyard"),
            allow_self: false,
        });
        let data = tempfile::tempdir().expect("a directory");
        Self {
            broker: Broker::new(
                hub.clone(),
                Scanner::new(Vec::new()),
                Arc::new(policy.expect("valid rules")),
                Records::off(),
                Saved::new(data.path().join(FILE).into()),
                Learning::default(),
            ),
            hub,
            data,
        }
    }

    /// One host call with ample time.
    async fn ask(&self, name: &str, args: Value) -> Result<Value, HostCallError> {
        self.ask_within(LONG, name, args).await
    }

    async fn ask_within(&self, wall_time: Duration, name: &str, args: Value) -> Result<Value, HostCallError> {
        let calls = self.broker.calls(Principal::local(), scope());
        let call = HostCall {
            name: name.to_owned(),
            args,
        };
        let answer = calls.call(call, context(wall_time)).await?;
        Ok(serde_json::from_str(answer.get()).expect("an answer is JSON"))
    }

    async fn tool(&self, server: &str, tool: &str, args: Value) -> Result<Value, HostCallError> {
        self.ask("tool", json!({"server": server, "tool": tool, "args": args}))
            .await
    }

    fn started(&self) -> bool {
        self.hub.states().iter().any(|state| state.status != Status::Idle)
    }
}

/// The context of a call in a run of this duration.
fn context(wall_time: Duration) -> CallContext {
    CallContext {
        cancel: CancellationToken::new(),
        clock: RunClock::until(Instant::now() + wall_time),
    }
}

/// A run of the surface `code`.
fn scope() -> RunScope {
    let run = RunId::new("r-test");
    RunScope {
        run,
        profile: RunProfile::default(),
        observer: None,
        done: broker::AnsweredCalls::default(),
        client: RunClient::default(),
        trace: broker::RunTrace::default(),
    }
}

fn server(name: &str, definition: &ServerDefinition) -> ServerConfig {
    let definition = definition.clone();
    ServerConfig {
        name: name.to_owned(),
        transport: Transport::Stdio(Stdio {
            command: definition.command,
            args: definition.args,
            env: definition.env,
            cwd: definition.cwd,
            ..Stdio::default()
        }),
        description: definition.description,
        timeout: definition.timeout.map(Duration::from_millis),
        ..ServerConfig::default()
    }
}

/// Checks kind, message and hint of a refusal.
#[track_caller]
fn check_error(answer: Result<Value, HostCallError>, kind: &str, message: &str, hint: Option<&str>) {
    let error = answer.expect_err(message);
    assert_eq!(
        (error.kind.name(), error.message.as_str(), error.hint.as_deref()),
        (kind, message, hint)
    );
}
