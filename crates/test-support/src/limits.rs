//! What every backend must do at every limit: a table of cases, and a runner for any codeyard.
//!
//! A case is a program that exceeds one limit of [`types::Limits`], with the expected exception,
//! outcome and fate of the session. [`conform`] sets the limit in one of three [`Way`]s. It runs
//! each program with the exception caught and uncaught, then checks that the next program runs.
//! [`endure`] does the same with programs that exhaust the interpreter. To test another backend,
//! pass a [`Codeyard`] configured for it.

mod exhaustion;
mod table;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use types::Limit;

use crate::{CodeClient, CodeResult, Codeyard, Mode};

pub use exhaustion::{EXHAUSTIONS, Exhaustion};
pub use table::{CASES, Case};

/// Where a limit is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// `[limits]` of the settings.
    Settings,
    /// `codeyard mcp --limit`.
    Server,
    /// `limits` of an `execute_code` call.
    Call,
}

/// Longest delay on a busy machine beyond a time limit: the interruption's grace, the processes'
/// end, a restart.
const LATE: Duration = Duration::from_secs(8);

/// Attempts at a case whose program may miss the interruption's grace of 50 ms.
const ATTEMPTS: usize = 4;

/// Reports an exception in the words of the table.
const PRELUDE: &str = include_str!("limits/prelude.py");

/// Runs every case. A backend measures the limits in `polled` from outside: such a program sees no exception, has the
/// same outcome, and loses its session. Panics at the first case that differs from the table.
pub async fn conform(make: impl Fn() -> Codeyard, way: Way, mode: Mode, polled: &[Limit]) {
    match way {
        // One codeyard serves all cases: each opens its own sessions.
        Way::Call => {
            let mut client = CodeClient::of(make()).await;
            for case in bound(mode) {
                case.check(&mut client, way, mode, polled).await;
            }
            client.check_healthy().await;
        }
        Way::Settings | Way::Server => {
            for case in bound(mode) {
                let codeyard = match way {
                    Way::Settings => make().settings(&format!("[limits]\n{} = {}", case.limit, case.value)),
                    _ => make().limit(&format!("{}={}", case.limit, case.value.trim_matches('"'))),
                };
                let mut client = CodeClient::of(codeyard).await;
                case.check(&mut client, way, mode, polled).await;
                client.check_healthy().await;
            }
        }
    }
}

/// The cases of the limits that this mode enforces; codeyard refuses any other limit.
fn bound(mode: Mode) -> impl Iterator<Item = &'static Case> {
    CASES
        .iter()
        .filter(move |case| case.limit != Limit::DiskRate || mode.disk_rate)
}

/// Runs every program that exhausts the interpreter, in one codeyard. Panics at the first that differs from the
/// table.
pub async fn endure(codeyard: Codeyard) {
    let mut client = CodeClient::of(codeyard).await;
    for exhaustion in &EXHAUSTIONS {
        exhaustion.check(&mut client).await;
    }
    client.check_healthy().await;
}

impl Case {
    /// The program as written, and a version that catches its exception.
    pub fn programs(&self) -> [String; 2] {
        let inner = self.exceeds.replace('\n', "\n    ");
        let caught = format!(
            "{PRELUDE}try:\n    {inner}\nexcept BaseException as error:\n    kept.clear()\n    tell(error)"
        );
        [format!("{PRELUDE}{}", self.exceeds), caught]
    }

    async fn check(&self, client: &mut CodeClient, way: Way, mode: Mode, polled: &[Limit]) {
        let name = self.limit.name();
        let felt = !self.felt.is_empty() && !polled.contains(&self.limit);
        let kept = if polled.contains(&self.limit) {
            "lost"
        } else {
            "kept"
        };
        let sessions = ["uncaught", "caught"].map(|kind| format!("{name}-{kind}"));
        let [uncaught, caught] = self.programs();
        let ran = self.execute(client, way, &uncaught, &sessions[0]).await;
        assert_eq!(outcome(&ran), self.outcome, "{name}, {way:?}: {ran:?}");
        assert_eq!(fate(&ran), kept, "{name}, {way:?}: {ran:?}");
        assert!((self.result)(&ran, mode), "{name}, {way:?}: {ran:?}");

        let ran = self.execute(client, way, &caught, &sessions[1]).await;
        assert_eq!(fate(&ran), kept, "{name}, {way:?}: {ran:?}");
        if felt {
            assert_eq!(ran.stdout().trim(), self.felt, "{name}, {way:?}: {ran:?}");
            let expected = if self.is_time() { self.outcome } else { "completed" };
            assert_eq!(outcome(&ran), expected, "{name}, {way:?}: {ran:?}");
        }
        for session in &sessions {
            // Processes of the case `processes` still run; all other resources are free again.
            let next = client.execute(json!({"code": "6 * 7", "session": session})).await;
            assert_eq!(next.result(), 42, "{name}, {way:?}: {next:?}");
        }
    }

    fn is_time(&self) -> bool {
        matches!(self.limit, Limit::WallTime | Limit::CpuTime)
    }

    /// Runs a program; repeats it if the busy machine did not let it stop within the grace.
    async fn execute(&self, client: &mut CodeClient, way: Way, code: &str, session: &str) -> CodeResult {
        let mut arguments = json!({"code": code, "session": session});
        if way == Way::Call {
            let value: Value = serde_json::from_str(self.value).unwrap_or_default();
            arguments["limits"] = json!({self.limit.name(): value});
        }
        let mut ran = client.execute(arguments.clone()).await;
        for _ in 1..ATTEMPTS {
            if !self.is_time() || fate(&ran) == "kept" {
                break;
            }
            ran = client.execute(arguments.clone()).await;
        }
        ran
    }
}

impl Exhaustion {
    /// Checks that the run ends in time in an expected way, and that the session or its successor
    /// runs the next program.
    async fn check(&self, client: &mut CodeClient) {
        let name = self.name;
        let begun = Instant::now();
        let arguments = json!({"code": self.program, "session": name, "limits": exhaustion::limits()});
        let ran = client.execute(arguments).await;
        let took = begun.elapsed();
        let (ended, told) = (outcome(&ran), ran.error());
        assert!(self.outcomes.contains(&ended.as_str()), "{name}: {ended}: {told}");
        assert!(took < exhaustion::WALL_TIME + LATE, "{name}: {took:?}");
        let next = client.execute(json!({"code": "6 * 7", "session": name})).await;
        assert_eq!(next.result(), 42, "{name}: {next:?} after {ended}: {told}");
        let noticed = next.fields()["notice"].is_string();
        let lost = fate(&ran) == "lost";
        assert_eq!(
            noticed, lost,
            "{name}: the loss must be reported: {next:?} after {ended}"
        );
    }
}

/// How a run ended: its status and the limit that ended it.
pub fn outcome(ran: &CodeResult) -> String {
    match ran.fields()["limit"].as_str() {
        Some(limit) => format!("{}: {limit}", ran.status()),
        None => ran.status().to_owned(),
    }
}

/// Whether the session is `kept` or `lost`.
pub fn fate(ran: &CodeResult) -> &str {
    ran.fields()["session_state"].as_str().unwrap_or("kept")
}
