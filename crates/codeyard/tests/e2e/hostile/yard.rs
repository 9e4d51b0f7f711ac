//! A codeyard under attack: runs hostile programs in separate sessions and checks their leftovers.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{CodeClient, CodeResult, Codeyard, Mode, ServerDefinition, Traces, wait_until};

use crate::hostile::host::{Canaries, Secrets, State};
use crate::hostile::table::{self, Rows};

/// The folder of the probes.
const PROBES: &str = "../attack/probes";
/// Small, so that programs reach the limits soon.
pub const LIMITS: &str = "[limits]\nwall_time = \"20s\"\ncpu_time = \"20s\"\nmemory = \"160 MiB\"\nprocesses = 24\nopen_files = 128\n\
     file_size = \"16 MiB\"\ndisk = \"32 MiB\"\ninodes = 2000\noutput = \"64 KiB\"\nhost_calls = 100\nconcurrent_host_calls = 4\n";
/// Bytes of `memory` above.
pub const MEMORY: u64 = 160 << 20;
/// Longest time to an answer beyond the program's own time limit, on a machine under load.
const PATIENCE: Duration = Duration::from_secs(15);
/// `wall_time` above.
const WALL_TIME: Duration = Duration::from_secs(20);

/// A codeyard, its client, and the planted files around it.
pub struct Yard {
    pub client: CodeClient,
    pub mode: Mode,
    pub secrets: Secrets,
    pub canaries: Canaries,
    temporary: PathBuf,
    before: State,
    traces: Traces,
}

/// The program of that name, with its parameters.
pub fn program(name: &str, given: &Value) -> String {
    compose(&format!("tests/e2e/hostile/{name}.py"), given)
}

/// The attacker's program of a probe of `codeyard doctor --attack`.
pub fn probe(name: &str, given: &Value) -> String {
    compose(&format!("{PROBES}/{name}/guest.py"), given)
}

/// Joins the shared code, the parameters and the program.
fn compose(file: &str, given: &Value) -> String {
    let read = |file: &str| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let prelude = read(&format!("{PROBES}/prelude.py"));
    // A JSON string is also a Python string.
    let given = Value::String(given.to_string());
    format!("{prelude}\ngiven = json.loads({given})\n{}", read(file))
}

// === impl Yard ===

impl Yard {
    /// A codeyard with small limits, planted secrets, and a running upstream server.
    pub async fn new() -> Yard {
        Yard::with(Codeyard::new().unwrap().settings(LIMITS)).await
    }

    /// Like `new`, with this installation.
    pub async fn with(codeyard: Codeyard) -> Yard {
        let secrets = Secrets::new();
        let temporary = codeyard.directory().join("temporary");
        std::fs::create_dir(&temporary).unwrap();
        let canaries = Canaries::plant(codeyard.directory(), &secrets);
        let codeyard = codeyard
            .server(
                "stub",
                &ServerDefinition::stub_with_extras().env("TOKEN", &secrets.upstream),
            )
            .env("CANARY", &secrets.variable)
            .env("TMPDIR", &temporary);
        let mode = Mode::of(&codeyard).await.unwrap();
        let before = State::look(&canaries, &temporary);
        let mut client = CodeClient::of(codeyard).await;
        client
            .check("print(await tools.stub.echo(message='up'))", "up\n")
            .await;
        Yard {
            client,
            mode,
            secrets,
            canaries,
            temporary,
            before,
            traces: Traces::default(),
        }
    }

    /// Codeyard's process.
    pub fn pid(&self) -> u32 {
        self.client.mcp.pid().unwrap()
    }

    /// Runs a program of `hostile/` in a new session; the answer must be in time.
    pub async fn run(&mut self, name: &str, given: Value) -> CodeResult {
        self.execute(json!({"code": program(name, &given), "session": "new"}))
            .await
    }

    /// Calls `execute_code`; the answer must be in time.
    pub async fn execute(&mut self, mut arguments: Value) -> CodeResult {
        arguments["receipt"] = json!(true);
        let longest = arguments["timeout_ms"]
            .as_u64()
            .map_or(WALL_TIME, Duration::from_millis);
        let start = Instant::now();
        let ran = self.client.execute(arguments).await;
        let took = start.elapsed();
        assert!(took < longest + PATIENCE, "answered after {took:?}: {ran:?}");
        self.traces.gather(self.pid());
        ran
    }

    /// Runs a program of attempts and compares its output with its table.
    pub async fn check(&mut self, name: &str, rows: &[Rows], given: Value) {
        let ran = self.run(name, given).await;
        assert_eq!(ran.status(), "completed", "{name}: {ran:?}");
        let wrong = table::compare(rows, ran.stdout(), self.mode);
        assert_eq!(wrong, Vec::<String>::new(), "{name}");
        self.check_well().await;
    }

    /// Checks that the next session works and that nothing planted has changed.
    pub async fn check_well(&mut self) {
        let ran = self.execute(json!({"code": "6 * 7", "session": "new"})).await;
        assert_eq!((ran.status(), ran.result()), ("completed", &json!(42)), "{ran:?}");
        self.close(ran.session()).await;
    }

    /// Ends a session, as a program of its own can.
    pub async fn close(&mut self, session: &str) {
        let ran = self
            .execute(json!({"code": "import os; os._exit(0)", "session": session}))
            .await;
        assert_eq!(ran.fields()["session_state"], "lost", "{ran:?}");
    }

    /// Ends codeyard as a client does; checks that no process is left and the host is unchanged.
    pub async fn end(mut self) {
        self.traces.gather(self.pid());
        let CodeClient { mcp, codeyard } = self.client;
        let status = mcp.finish().await.unwrap();
        assert!(status.success(), "{status}");
        let traces = &self.traces;
        assert!(!traces.pids().is_empty());
        assert_eq!(self.mode.groups, !traces.groups().is_empty());
        traces.wait_until_gone().await;
        wait_until("the host is unchanged", || {
            (State::look(&self.canaries, &self.temporary) == self.before).then_some(())
        })
        .await;
        drop(codeyard);
    }
}
