//! Two tenants on one host: 10,000 random operations, each answer compared with the tenant's own history.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use serde_json::{Value, json};
use server::Caller;
use store::{Filter, Opened, Reader};
use surfaces::CodeService as _;
use tokio_util::sync::CancellationToken;
use types::{Principal, RunId, Selector, SessionName, Status};

use crate::yard::{Surface, Yard, named, quoted, result, run, run_until};

const OPERATIONS: usize = 5_000;

/// Names that both tenants use.
const NAMES: [&str; 4] = ["default", "work", "report", "x"];

/// Handles of the other tenant, learned in other ways, that this tenant tries to use.
#[derive(Debug, Default)]
struct Handles {
    runs: Vec<RunId>,
    sessions: Vec<SessionName>,
    artifacts: Vec<(SessionName, PathBuf)>,
    memories: Vec<String>,
}

/// A tenant with its history, which predicts its answers.
struct Tenant {
    principal: Principal,
    caller: Caller,
    records: store::RecordsConfig,
    random: Rng,
    /// Part of every text that this tenant writes.
    mark: &'static str,
    /// Part of every text that the other tenant writes.
    other_mark: &'static str,
    own: Arc<Mutex<Handles>>,
    other: Arc<Mutex<Handles>>,
    written: u64,
    variables: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
    artifacts: BTreeMap<(SessionName, PathBuf), String>,
    memories: BTreeMap<String, String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_tenants_see_nothing_of_each_other() {
    let seed = seed();
    println!("SEED={seed}");
    let yard = Yard::new("acme/ann");
    let handles = [Arc::<Mutex<Handles>>::default(), Arc::default()];
    // Random handles have no capital letters, so none contains a mark.
    let tenants = [
        ("acme", "ACMEMARK", "GLOBEXMARK", 0),
        ("globex", "GLOBEXMARK", "ACMEMARK", 1),
    ];
    let [ann, bob] = tenants.map(|(tenant, mark, other_mark, place)| {
        // The same user name in two tenants.
        let principal: Principal = format!("{tenant}/ann").parse().unwrap();
        Tenant {
            caller: yard.host.caller(principal.clone()),
            principal,
            records: yard.records.clone(),
            random: Rng::with_seed(seed + place),
            mark,
            other_mark,
            own: handles[usize::from(place != 0)].clone(),
            other: handles[usize::from(place == 0)].clone(),
            written: 0,
            variables: BTreeMap::new(),
            files: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            memories: BTreeMap::new(),
        }
    });
    let [ann, bob] = [tokio::spawn(ann.live()), tokio::spawn(bob.live())];
    ann.await.unwrap();
    bob.await.unwrap();
    yard.host.close().await;
}

/// Seed of the random choices; `SEED` repeats a failed run.
#[expect(
    clippy::disallowed_methods,
    reason = "whoever repeats a failed run names its seed"
)]
fn seed() -> u64 {
    let named = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    named.unwrap_or_else(|| fastrand::u64(..))
}

impl Tenant {
    async fn live(mut self) {
        for _ in 0..OPERATIONS {
            match self.random.u32(0..1000) {
                0..220 => self.set_variable().await,
                220..400 => self.read_variable().await,
                400..520 => self.write_file().await,
                520..640 => self.read_files().await,
                640..690 => self.write_artifact().await,
                690..750 => self.read_artifacts().await,
                750..800 => self.save_memory().await,
                800..860 => self.read_memories().await,
                860..900 => self.call_tool().await,
                900..920 => self.teach().await,
                920..930 => self.learned().await,
                930..940 => self.use_login().await,
                940..975 => self.read_records().await,
                975..982 => self.open_session().await,
                982..988 => self.try_session_of_the_other().await,
                988..994 => self.cancel().await,
                _ => self.dismiss().await,
            }
        }
        self.learns().await;
    }

    /// This tenant sees the type that its calls taught; otherwise the isolation check would prove nothing.
    async fn learns(&mut self) {
        let field = format!("{}_field", self.mark);
        for _ in 0..1_000 {
            self.teach().await;
            let shown = self.caller.show("stub.raw").await.unwrap();
            self.check(&shown);
            if format!("{shown:?}").contains(&field) {
                return;
            }
        }
        panic!("the type of {field} was not learned");
    }

    /// A text never written before.
    fn text(&mut self) -> String {
        self.written += 1;
        format!("{}-{}", self.mark, self.written)
    }

    fn name(&mut self) -> &'static str {
        NAMES[self.random.usize(0..NAMES.len())]
    }

    /// Fails if the answer contains the other tenant's mark.
    #[track_caller]
    fn check(&self, told: &dyn std::fmt::Debug) {
        let told = format!("{told:?}");
        assert!(!told.contains(self.other_mark), "{} was told: {told}", self.mark);
    }

    async fn run(&self, session: &str, code: String) -> Value {
        let session = match session {
            "default" => Selector::Default,
            name => named(name),
        };
        let report = run(&self.caller, Surface::Code, session, code).await;
        self.check(&report);
        self.own.lock().unwrap().runs.push(report.run_id.clone());
        result(&report)
    }

    /// Runs a program on the surface `bridge` and returns what it prints, as JSON.
    async fn run_on_bridge(&self, code: &str) -> Value {
        let code = format!("import json\nfrom mcp import runtime\n{code}");
        let report = run(&self.caller, Surface::Bridge, named("saved"), code).await;
        self.check(&report);
        result(&report);
        serde_json::from_str(&report.outcome.stdout.shown()).unwrap()
    }

    async fn set_variable(&mut self) {
        let (session, text) = (self.name(), self.text());
        self.run(session, format!("v = {}", quoted(&text))).await;
        self.variables.insert(session.to_owned(), text);
    }

    async fn read_variable(&mut self) {
        let session = self.name();
        let value = self.run(session, "return globals().get('v')".to_owned()).await;
        assert_eq!(value.as_str(), self.variables.get(session).map(String::as_str));
    }

    async fn write_file(&mut self) {
        let (session, name, text) = (self.name(), self.name(), self.text());
        let code = format!("open('/workspace/{name}.txt', 'w').write({})", quoted(&text));
        self.run(session, code).await;
        self.files.insert(format!("{name}.txt"), text);
    }

    async fn read_files(&mut self) {
        let session = self.name();
        let code = "import os\nreturn {n: open('/workspace/' + n).read() for n in os.listdir('/workspace')}";
        assert_eq!(self.run(session, code.to_owned()).await, json!(self.files));
    }

    async fn write_artifact(&mut self) {
        let (session, name, text) = (self.name(), self.name(), self.text());
        let code = format!("_ = open('/results/{name}.txt', 'w').write({})", quoted(&text));
        self.run(session, code).await;
        let key = (SessionName::new(session), PathBuf::from(format!("{name}.txt")));
        self.own.lock().unwrap().artifacts.push(key.clone());
        self.artifacts.insert(key, text);
    }

    async fn read_artifacts(&mut self) {
        let listed = self.caller.artifacts().await.unwrap();
        self.check(&listed);
        let mut names: Vec<_> = listed
            .files
            .iter()
            .map(|file| (file.session.clone(), file.path.clone()))
            .collect();
        names.sort();
        assert!(names.iter().eq(self.artifacts.keys()), "{names:?}");
        for ((session, path), text) in &self.artifacts {
            let read = self
                .caller
                .read_artifact(session.clone(), path.clone(), 1000)
                .await;
            assert_eq!(read.unwrap(), text.as_bytes());
        }
        let foreign = self.other.lock().unwrap().artifacts.last().cloned();
        if let Some(key) = foreign.filter(|key| !self.artifacts.contains_key(key)) {
            let read = self.caller.read_artifact(key.0, key.1, 1000).await;
            let unknown = self
                .caller
                .read_artifact(SessionName::new("none"), "none.txt".into(), 1000)
                .await;
            assert_eq!(format!("{read:?}"), format!("{unknown:?}"));
        }
    }

    async fn save_memory(&mut self) {
        let (key, text) = (self.name(), self.text());
        // One key that both tenants know, one that only this tenant knows.
        for key in [key.to_owned(), format!("{key}-{}", self.mark)] {
            let code = format!(
                "print(json.dumps(runtime.save_memory({}, {})))",
                quoted(&key),
                quoted(&text)
            );
            self.run_on_bridge(&code).await;
            self.own.lock().unwrap().memories.push(key.clone());
            self.memories.insert(key, text.clone());
        }
    }

    async fn read_memories(&mut self) {
        let code =
            "print(json.dumps({m['key']: runtime.load_memory(m['key']) for m in runtime.list_memories()}))";
        assert_eq!(self.run_on_bridge(code).await, json!(self.memories));
        let foreign = self.other.lock().unwrap().memories.last().cloned();
        if let Some(key) = foreign {
            let code = format!("print(json.dumps(runtime.load_memory({})))", quoted(&key));
            let loaded = self.run_on_bridge(&code).await;
            assert_eq!(loaded.as_str(), self.memories.get(&key).map(String::as_str));
        }
    }

    async fn call_tool(&mut self) {
        let (session, text) = (self.name(), self.text());
        let code = format!("return await tools.stub.echo(message={})", quoted(&text));
        assert_eq!(self.run(session, code).await, json!(text));
    }

    /// Teaches the host a type whose field has the tenant's mark.
    async fn teach(&mut self) {
        let session = self.name();
        let answer = json!({"content": [], "structuredContent": {format!("{}_field", self.mark): 1}});
        let code = format!("_ = await tools.stub.raw(result={answer})");
        self.run(session, code).await;
    }

    async fn learned(&mut self) {
        self.check(&self.caller.show("stub.raw").await.unwrap());
        self.check(&self.caller.search("exactly this result", 5).await);
        let told = self
            .run("x", "return open('/tools/stub/raw.py').read()".to_owned())
            .await;
        self.check(&told);
    }

    /// Only the tenant with the login sees the server.
    async fn use_login(&mut self) {
        let is_owner = self.principal.tenant().as_str() == "acme";
        let names = self.caller.server_names().await;
        assert_eq!(names.iter().any(|name| name == "far"), is_owner, "{names:?}");
        let code = "try:\n    await tools.far.anything()\nexcept ToolError as e:\n    return e.kind";
        assert_eq!(self.run("x", code.to_owned()).await == "denied", !is_owner);
    }

    async fn read_records(&mut self) {
        let Opened::Open(mut reader) = Reader::open(&self.records, &self.principal).await.unwrap() else {
            return;
        };
        let filter = Filter {
            limit: Some(20),
            ..Filter::default()
        };
        let principal = self.principal.to_string();
        for run in reader.runs(&filter).await.unwrap() {
            assert_eq!(run.principal, principal);
        }
        let foreign = self.other.lock().unwrap().runs.last().cloned();
        if let Some(id) = foreign {
            let (foreign, unknown) = (
                reader.run(id.as_str()).await.unwrap(),
                reader.run("r-none").await.unwrap(),
            );
            assert!(foreign.is_none() && unknown.is_none(), "{foreign:?}");
        }
    }

    async fn open_session(&mut self) {
        let text = self.text();
        let code = format!("v = {}", quoted(&text));
        let report = run(&self.caller, Surface::Code, Selector::New, code).await;
        self.check(&report);
        self.variables.insert(report.session.to_string(), text);
        self.own.lock().unwrap().sessions.push(report.session);
    }

    /// The other's session name opens a session of one's own.
    async fn try_session_of_the_other(&mut self) {
        let foreign = self.other.lock().unwrap().sessions.last().cloned();
        if let Some(session) = foreign {
            let session = session.to_string();
            let value = self.run(&session, "return globals().get('v')".to_owned()).await;
            assert_eq!(value.as_str(), self.variables.get(&session).map(String::as_str));
        }
    }

    async fn cancel(&mut self) {
        let session = self.name();
        let cancel = CancellationToken::new();
        let code = "import time\nwhile True: time.sleep(0.01)".to_owned();
        let running = run_until(&self.caller, Surface::Code, named(session), code, cancel.clone());
        let (report, ()) = tokio::join!(running, async {
            tokio::task::yield_now().await;
            cancel.cancel();
        });
        self.check(&report);
        assert_eq!(report.outcome.status, Status::Cancelled, "{report:?}");
        if report.outcome.session == types::SessionFate::Lost {
            self.variables.remove(session);
        }
    }

    /// Releases what the host holds for this tenant: variables go, files stay.
    async fn dismiss(&mut self) {
        self.caller.host().dismiss(&self.principal).await;
        self.variables.clear();
    }
}
