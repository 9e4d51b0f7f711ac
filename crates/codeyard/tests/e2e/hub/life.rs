//! Real servers, local and remote, killed, changed and removed while sessions use them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};
use test_support::{CodeClient, Codeyard, Era, McpClient, RealRemote, ServerDefinition};
use test_support::{descendants, wait_until};

use crate::hub::completed;

/// A call, and a part of its answer.
type CallWithAnswer = (&'static str, &'static str);

/// One server, before and after a change of its definition or of the server itself.
struct Case {
    name: &'static str,
    before: CallWithAnswer,
    after: CallWithAnswer,
}

const fn case(name: &'static str, before: CallWithAnswer, after: CallWithAnswer) -> Case {
    Case { name, before, after }
}

const THOUGHT: &str = "tools.thinking.sequentialthinking(thought='t', thoughtNumber=1, totalThoughts=1, nextThoughtNeeded=False)";

/// `DATA` means the servers' data directory.
const CASES: [Case; 12] = [
    case(
        "everything",
        ("tools.everything.echo(message='x')", "Echo: x"),
        ("tools.everything.get_env()", "second life"),
    ),
    case(
        "filesystem",
        ("tools.filesystem.list_allowed_directories()", "DATA"),
        ("tools.filesystem.list_allowed_directories()", "DATA/files"),
    ),
    case(
        "memory",
        ("tools.memory.read_graph()", "'entities': []"),
        ("tools.memory.read_graph()", "'ann'"),
    ),
    case(
        "thinking",
        (THOUGHT, "thoughtHistoryLength"),
        (THOUGHT, "thoughtHistoryLength"),
    ),
    case(
        "git",
        (
            "tools.git.git_status(repo_path='DATA/repo')",
            "working tree clean",
        ),
        (
            "tools.git.git_status(repo_path='DATA/files/repo')",
            "working tree clean",
        ),
    ),
    case(
        "time",
        (
            "tools.time.convert_time(source_timezone='UTC', time='12:00', target_timezone='Asia/Tokyo')",
            "+9.0h",
        ),
        (
            "runtime.query_tool_docs('time', 'get_current_time', detail='full')",
            "Asia/Tokyo",
        ),
    ),
    case(
        "excel",
        ("listed('excel', 'create_workbook')", "True"),
        ("listed('excel', 'create_workbook')", "False"),
    ),
    case(
        "sqlite",
        ("tools.sqlite.read_query(query='SELECT 40 + 2 AS n')", "42"),
        (
            "tools.sqlite.read_query(query='SELECT file FROM pragma_database_list')",
            "DATA/other.db",
        ),
    ),
    case(
        "calculator",
        ("tools.calculator.calculate(expression='6*7')", "42"),
        ("tools.calculator.calculate(expression='6*7')", "42"),
    ),
    case(
        "everything_http",
        ("tools.everything_http.echo(message='x')", "Echo: x"),
        ("tools.everything_http.get_env()", "second life"),
    ),
    case(
        "everything_sse",
        ("tools.everything_sse.echo(message='x')", "Echo: x"),
        ("tools.everything_sse.get_env()", "second life"),
    ),
    case(
        "excel_http",
        ("listed('excel_http', 'create_workbook')", "True"),
        ("listed('excel_http', 'create_workbook')", "False"),
    ),
];

/// The first program of both sessions; `calls` has a call of each server.
const PRELUDE: &str = include_str!("life/definitions.py");

/// Calls all servers concurrently until the file exists; returns the errors.
const USE: &str = include_str!("life/use_until_stopped.py");

/// Calls each server until it is gone, with long calls of three servers in flight.
const USE_UNTIL_GONE: &str = include_str!("life/use_until_gone.py");

/// The cases of these servers, or of all.
fn cases(names: &[&str]) -> Vec<&'static Case> {
    CASES
        .iter()
        .filter(|case| names.is_empty() || names.contains(&case.name))
        .collect()
}

/// The statement with each server's call.
fn calls(cases: &[&Case], part: impl Fn(&Case) -> CallWithAnswer) -> String {
    let calls = cases
        .iter()
        .map(|case| format!("    '{}': lambda: {},\n", case.name, part(case).0));
    format!("calls = {{\n{}}}\n", calls.collect::<String>())
}

/// A codeyard with some of the servers, defined in a separate file.
struct Life {
    client: CodeClient,
    cases: Vec<&'static Case>,
    remote: BTreeMap<&'static str, RealRemote>,
    servers: Map<String, Value>,
}

#[tokio::test]
async fn killed_servers_are_started_again_while_sessions_use_them() {
    let names = [
        "everything",
        "filesystem",
        "sqlite",
        "everything_http",
        "everything_sse",
    ];
    let mut life = Life::begin(&names).await;
    life.kill_all_while_they_are_used().await;
    life.until("b", |case| case.before).await;
}

#[tokio::test]
async fn changed_definitions_and_servers_reach_every_session() {
    let mut life = Life::begin(&[]).await;
    life.change_all().await;
}

#[tokio::test]
async fn servers_are_removed_while_sessions_use_them() {
    let by_file = ["filesystem", "memory", "everything"];
    let by_command = ["time", "everything_http", "everything_sse"];
    let mut life = Life::begin(&[by_file, by_command].concat()).await;
    life.remove_all_while_they_are_used(&by_file, &by_command).await;
    let ran = life
        .run("b", "return await tools.keep.echo(message='still here')")
        .await;
    assert_eq!(ran, "still here");
    let codeyard = life.client.mcp.pid().unwrap();
    wait_until("no process of a removed server is left", || {
        processes(codeyard).is_empty().then_some(())
    })
    .await;
}

// === impl Life ===

impl Life {
    /// Starts these servers, or all, and calls each from two sessions.
    async fn begin(names: &[&str]) -> Life {
        let codeyard = Codeyard::new().unwrap();
        let cases = cases(names);
        let is_wanted = |name: &str| cases.iter().any(|case| case.name == name);
        let mut servers = test_support::real_servers(codeyard.directory()).unwrap();
        servers.retain(|name, _| is_wanted(name));
        let mut remote = BTreeMap::new();
        for name in RealRemote::NAMES.into_iter().filter(|name| is_wanted(name)) {
            let server = RealRemote::start(name, codeyard.directory()).await.unwrap();
            servers.insert(name.to_owned(), json!({"url": server.url()}));
            remote.insert(name, server);
        }
        servers.insert("keep".to_owned(), ServerDefinition::stub_with_extras().to_json());
        let file = file(&codeyard);
        write(&file, &servers);
        let command = codeyard.command(["mcp".as_ref(), "--config".as_ref(), file.as_os_str()]);
        let mut mcp = McpClient::spawn(command.unwrap()).unwrap();
        mcp.open(Era::Legacy).await.unwrap();
        let mut life = Life {
            client: CodeClient { mcp, codeyard },
            cases,
            remote,
            servers,
        };
        for session in ["a", "b"] {
            let calls = calls(&life.cases, |case| case.before);
            life.run(session, &format!("{PRELUDE}{calls}")).await;
        }
        life.list_all().await;
        life.check("a", |case| case.before).await;
        life.check("b", |case| case.before).await;
        life
    }

    /// A few at a time, because each call starts a server and the machine may be busy.
    async fn list_all(&mut self) {
        for some in self.cases.clone().chunks(4) {
            let names: Vec<&str> = some.iter().map(|case| case.name).collect();
            let code = format!("return [len(await runtime.list_tools(name)) for name in {names:?}]");
            let counted = self.run("a", &code).await;
            let counts = counted.as_array().unwrap();
            assert!(
                counts.iter().all(|count| count.as_u64() > Some(0)),
                "{names:?}: {counted}"
            );
        }
    }

    /// The number of servers that are processes of codeyard.
    fn local(&self) -> usize {
        self.cases.len() - self.remote.len()
    }

    fn data(&self) -> PathBuf {
        self.client.codeyard.directory().join("upstreams")
    }

    fn arguments(&self, session: &str, code: &str) -> Value {
        let code = code.replace("DATA", &self.data().to_string_lossy());
        json!({"code": code, "session": session, "timeout_ms": 240_000})
    }

    /// Runs a program that must complete; returns its result.
    async fn run(&mut self, session: &str, code: &str) -> Value {
        let arguments = self.arguments(session, code);
        let ran = self.client.execute(arguments).await;
        assert_eq!(
            ran.status(),
            "completed",
            "{}\n{}\n{code}",
            ran.shown(),
            self.client.mcp.stderr()
        );
        ran.result().clone()
    }

    /// Calls every server once; each must answer as its case says.
    async fn check(&mut self, session: &str, part: impl Fn(&Case) -> CallWithAnswer) {
        let said = self.run(session, "return await once()").await;
        for case in &self.cases {
            let expected = part(case).1.replace("DATA", &self.data().to_string_lossy());
            let found = said[case.name].as_str().unwrap();
            assert!(found.contains(&expected), "{}: {found}", case.name);
        }
    }

    /// Calls every server repeatedly until each answers as its case says.
    async fn until(&mut self, session: &str, part: impl Fn(&Case) -> CallWithAnswer) {
        let expected: Map<String, Value> = self
            .cases
            .iter()
            .map(|case| (case.name.to_owned(), json!(part(case).1)))
            .collect();
        let code = format!(
            "import time\n{}expected = {}\nend = time.monotonic() + 40\n\
             while True:\n    said = await once()\n    wrong = {{n: said[n] for n in said if expected[n] not in said[n]}}\n    \
             if not wrong or time.monotonic() > end:\n        return wrong\n    await asyncio.sleep(0.2)",
            calls(&self.cases, part),
            Value::Object(expected)
        );
        let wrong = self.run(session, &code).await;
        assert_eq!(wrong, json!({}), "{}", self.client.mcp.stderr());
    }

    /// Starts a program in session `a` and waits until it has begun.
    async fn start(&mut self, code: &str) -> Value {
        let begun = self.data().join("begun");
        let _ = std::fs::remove_file(&begun);
        let arguments = self.arguments("a", code);
        let id = self.client.start(arguments).await;
        wait_until("the program has begun", || begun.exists().then_some(())).await;
        id
    }

    /// Kills every process and restarts every remote server during calls. A failed call must name its server; later
    /// calls reach the new process.
    async fn kill_all_while_they_are_used(&mut self) {
        let id = self.start(USE).await;
        let codeyard = self.client.mcp.pid().unwrap();
        let before = processes(codeyard);
        assert_eq!(before.len(), self.local(), "{before:?}");
        for pid in before.values() {
            let pid = Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap();
            kill_process(pid, Signal::KILL).unwrap();
        }
        for server in self.remote.values_mut() {
            server.restart(&[], &[]).await.unwrap();
        }
        wait_until("each server has a new process", || {
            let now = processes(codeyard);
            let is_new = |(name, pid): (&String, &u32)| before[name] != *pid;
            (now.len() == before.len() && now.iter().all(is_new)).then_some(())
        })
        .await;
        std::fs::write(self.data().join("stop"), "").unwrap();
        let ran = self.client.ran(&id).await;
        for error in completed(&ran).as_array().unwrap() {
            assert!(error.as_str().unwrap().contains("server '"), "{error}");
        }
    }

    /// Changes definitions of processes and arguments of remote servers: the sessions must see the changes.
    async fn change_all(&mut self) {
        let data = self.data();
        copy(&data.join("repo"), &data.join("files/repo"));
        let ann = json!({"type": "entity", "name": "ann", "entityType": "person", "observations": []});
        std::fs::write(data.join("ann.jsonl"), ann.to_string()).unwrap();
        let path = |name: &str| data.join(name).to_string_lossy().into_owned();
        for (name, args) in [
            ("filesystem", vec![path("files")]),
            ("git", vec!["--repository".to_owned(), path("files/repo")]),
            (
                "time",
                vec!["--local-timezone".to_owned(), "Asia/Tokyo".to_owned()],
            ),
            ("excel", vec!["stdio".to_owned(), "--read-only".to_owned()]),
            ("sqlite", vec!["--db-path".to_owned(), path("other.db")]),
        ] {
            self.servers[name]["args"] = json!(args);
        }
        self.servers["memory"]["env"]["MEMORY_FILE_PATH"] = json!(path("ann.jsonl"));
        for name in ["everything", "thinking", "calculator"] {
            self.servers[name]["env"] = json!({"LIFE": "second life"});
        }
        let codeyard = self.client.mcp.pid().unwrap();
        let before = processes(codeyard);
        write(&file(&self.client.codeyard), &self.servers);
        for (name, server) in &mut self.remote {
            let args: &[&str] = if *name == "excel_http" {
                &["--read-only"]
            } else {
                &[]
            };
            server.restart(args, &[("LIFE", "second life")]).await.unwrap();
        }
        // A changed file is noticed within two seconds, a server's change some time later.
        self.until("b", |case| case.after).await;
        self.until("a", |case| case.after).await;
        let now = processes(codeyard);
        assert!(
            now.len() == before.len() && now.iter().all(|(name, pid)| before[name] != *pid),
            "{now:?}"
        );
    }

    /// Removes half of the servers by the command, half by a changed file. Calls in flight complete; later calls give
    /// the reason.
    async fn remove_all_while_they_are_used(&mut self, by_file: &[&str], by_command: &[&str]) {
        let id = self.start(USE_UNTIL_GONE).await;
        for name in by_file {
            self.servers.remove(*name);
        }
        let file = file(&self.client.codeyard);
        write(&file, &self.servers);
        for name in by_command {
            let args = [
                "--config",
                file.to_str().unwrap(),
                "servers",
                "remove",
                name,
                "--yes",
            ];
            let removed = self.client.codeyard.run(args).await.unwrap();
            assert!(removed.status.success(), "{removed:?}");
        }
        let ran = self.client.ran(&id).await;
        let result = completed(&ran);
        assert_eq!(result[0], self.cases.len());
        for error in result[1].as_array().unwrap() {
            let said = error.as_str().unwrap();
            assert!(said.contains("its definition was changed or removed"), "{said}");
        }
        for said in result[2].as_array().unwrap() {
            assert!(said.as_str().unwrap().contains("completed"), "{result}");
        }
    }
}

fn file(codeyard: &Codeyard) -> PathBuf {
    codeyard.work_directory().join("servers.json")
}

/// Replaces the file atomically, like an editor.
fn write(file: &Path, servers: &Map<String, Value>) {
    let new = file.with_extension("new");
    std::fs::write(&new, json!({ "mcpServers": servers }).to_string()).unwrap();
    std::fs::rename(new, file).unwrap();
}

/// The processes of real servers below this codeyard, by the names of their programs.
fn processes(codeyard: u32) -> BTreeMap<String, u32> {
    let all = descendants(codeyard).into_iter();
    let servers = all.filter(|process| !process.command.contains("__supervise"));
    servers
        .filter_map(|process| {
            let mut words = process.command.split(' ');
            let program = words.find(|word| word.contains("mcp-server"))?;
            Some((program.rsplit('/').next()?.to_owned(), process.pid))
        })
        .collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
