//! Receipts of programs over real servers, compared with js-tiktoken's counts of the real messages.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use accounting::{Tokenizer, estimates};
use serde_json::{Value, json};
use test_support::{CodeClient, CodeResult, Codeyard, wait_until};
use tokio::io::AsyncWriteExt as _;

const CALLS: &str = include_str!("../../../../test-support/programs/observed/calls.jsonl");
const PROGRAMS: &str = include_str!("../../../../test-support/programs/observed/right.txt");
const MORE: &str = include_str!("more.txt");

/// Makes the calls of the file in order; they create the data of the programs.
const PREPARE: &str = r#"
import json
from mcp import runtime
for line in open("/workspace/calls.jsonl"):
    call = json.loads(line)
    await runtime.call_tool(call["server"], call["tool"], call["arguments"])
"#;

/// Most difference of a receipt from the other count, in percent.
const MOST_OFF: f64 = 3.0;

/// Most error of estimates from recorded bytes of all these runs, in percent.
const MOST_OFF_ESTIMATED: f64 = 10.0;

/// Searches before the first of the programs.
const SEARCHES: [&str; 3] = [
    "list the files of a directory",
    "commits of a repository",
    "create an entity",
];

fn programs() -> Vec<(String, String)> {
    let parts = PROGRAMS.split("=== ").chain(MORE.split("=== "));
    let parts = parts.filter_map(|part| part.split_once('\n'));
    parts
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, code)| {
            let code = code.strip_prefix("--- right\n").unwrap_or(code);
            (name.to_owned(), code.to_owned())
        })
        .collect()
}

/// The bytes between codeyard and the servers, read while they grow.
struct Traffic {
    directory: PathBuf,
    read: HashMap<PathBuf, usize>,
}

impl Traffic {
    /// The whole messages of one direction since the last call.
    fn news(&mut self, way: &str) -> Vec<(String, Value)> {
        let mut news = Vec::new();
        for entry in std::fs::read_dir(&self.directory).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != way) {
                continue;
            }
            let server = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let from = self.read.entry(path).or_default();
            let end = text.rfind('\n').map_or(*from, |end| end + 1);
            let messages = text[*from..end].lines();
            news.extend(messages.filter_map(|line| Some((server.clone(), serde_json::from_str(line).ok()?))));
            *from = end;
        }
        news
    }

    /// Arguments and answers of the calls since the last time, each as a model would write or read it.
    async fn calls(&mut self) -> (Vec<String>, Vec<String>) {
        let asked = self.news("in");
        let calls: Vec<&(String, Value)> = asked
            .iter()
            .filter(|(_, message)| message["method"] == "tools/call")
            .collect();
        let mut answers: Vec<(String, Value)> = Vec::new();
        let is_answered = |answers: &[(String, Value)], (server, call): &(String, Value)| {
            answers.iter().any(|(from, answer)| {
                from == server && answer["id"] == call["id"] && answer.get("method").is_none()
            })
        };
        wait_until("every answer is written down", || {
            answers.extend(self.news("out"));
            calls.iter().all(|call| is_answered(&answers, call)).then_some(())
        })
        .await;
        let written = calls
            .iter()
            .map(|(_, call)| call["params"]["arguments"].to_string());
        let ids: Vec<(&String, &Value)> = calls.iter().map(|(server, call)| (server, &call["id"])).collect();
        let answers = answers.iter().filter(|(server, answer)| {
            answer.get("method").is_none() && ids.contains(&(server, &answer["id"]))
        });
        (
            written.collect(),
            answers.map(|(_, answer)| shown(answer)).collect(),
        )
    }
}

/// The part of an answer that a client shows its model.
fn shown(answer: &Value) -> String {
    let Some(result) = answer.get("result") else {
        return answer["error"]["message"].as_str().unwrap_or_default().to_owned();
    };
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    let text = |block: &Value| {
        block["text"]
            .as_str()
            .or(block["resource"]["text"].as_str())
            .map(str::to_owned)
    };
    let texts: Vec<String> = blocks.iter().filter_map(text).collect();
    match texts.is_empty() {
        true if result["structuredContent"].is_null() => String::new(),
        true => result["structuredContent"].to_string(),
        false => texts.join("\n"),
    }
}

/// The definitions of every server that has listed them, one array per server.
fn definitions(listed: &[(String, Value)]) -> Vec<String> {
    let mut servers: HashMap<&str, Vec<Value>> = HashMap::new();
    for (server, message) in listed {
        if let Some(tools) = message["result"]["tools"].as_array() {
            let view = |tool: &Value| json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]});
            servers.insert(server, tools.iter().map(view).collect());
        }
    }
    servers
        .into_values()
        .map(|tools| Value::from(tools).to_string())
        .collect()
}

/// Counts with js-tiktoken.
#[expect(
    clippy::disallowed_methods,
    reason = "the test waits for this child, which starts none"
)]
async fn count(texts: &[String]) -> Vec<u64> {
    let checkers = test_support::checkers().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/receipts/count.cjs");
    let mut node = tokio::process::Command::new("node")
        .arg(script)
        .env("NODE_PATH", checkers.join("node_modules"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = node.stdin.take().unwrap();
    stdin
        .write_all(json!(texts).to_string().as_bytes())
        .await
        .unwrap();
    drop(stdin);
    let output = node.wait_with_output().await.unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// One run: its messages, and its receipt.
struct Seen {
    name: String,
    written: String,
    read: String,
    arguments: Vec<String>,
    answers: Vec<String>,
    receipt: Value,
}

async fn run(client: &mut CodeClient, traffic: &mut Traffic, name: String, code: &str) -> Seen {
    let arguments = json!({"code": code, "session": name, "receipt": true});
    let ran: CodeResult = client.execute(arguments.clone()).await;
    assert_eq!(ran.status(), "completed", "{name}: {ran:?}");
    let texts = ran.content().iter().filter_map(|block| block["text"].as_str());
    let read = texts.collect::<Vec<_>>().join("\n");
    let (written, answers) = traffic.calls().await;
    Seen {
        name,
        written: arguments.to_string(),
        read,
        arguments: written,
        answers,
        receipt: ran.fields()["receipt"].clone(),
    }
}

impl Seen {
    /// The counted texts, and the number of texts of each kind, in the order of the receipt's fields.
    fn texts(&self) -> (Vec<String>, [usize; 4]) {
        let own = [&self.written, &self.read].into_iter();
        let texts = own.chain(&self.arguments).chain(&self.answers).cloned();
        (texts.collect(), [1, 1, self.arguments.len(), self.answers.len()])
    }
}

/// The other count of all runs, in the order of the receipt's fields.
async fn others(seen: &[Seen]) -> Vec<[u64; 4]> {
    let (texts, kinds): (Vec<_>, Vec<_>) = seen.iter().map(Seen::texts).unzip();
    let mut counts = count(&texts.concat()).await.into_iter();
    let mut sum = |texts| counts.by_ref().take(texts).sum();
    kinds.iter().map(|kinds| kinds.map(&mut sum)).collect()
}

/// The receipts' counts.
fn ours(receipt: &Value) -> [u64; 4] {
    let number = |side: &str, what: &str| receipt["tokens"][side][what].as_u64().unwrap();
    [
        number("codeyard", "written"),
        number("codeyard", "read"),
        number("direct", "written"),
        number("direct", "read"),
    ]
}

fn off(ours: u64, other: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let percent = (ours as f64 - other as f64).abs() * 100.0 / (other as f64).max(1.0);
    percent
}

/// Bytes and tokens of one kind in the runs with a receipt, as recorded.
async fn recorded(codeyard: &Codeyard, of: &str) -> (u64, u64) {
    let file = codeyard.data_directory().join("codeyard.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(file)
        .read_only(true);
    let mut records = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let (bytes, tokens): (i64, i64) = sqlx::query_as(sqlx::AssertSqlSafe(of.to_owned()))
        .fetch_one(&mut records)
        .await
        .unwrap();
    (bytes.try_into().unwrap(), tokens.try_into().unwrap())
}

/// A kind of estimate: its recorded bytes and tokens, and its formula.
type Estimate = (&'static str, String, fn(u64) -> u64);

/// Estimates for runs without a receipt must be near the counts of these receipts.
#[expect(
    clippy::print_stdout,
    reason = "docs/contributing/evaluation.md repeats what is measured here"
)]
async fn check_estimates(codeyard: &Codeyard, seen: &[Seen]) {
    let tokenizer = Tokenizer::load().unwrap();
    let programs = seen.iter().map(|seen| {
        let arguments: Value = serde_json::from_str(&seen.written).unwrap();
        tokenizer.text(&json!({"code": arguments["code"]}).to_string())
    });
    let programs: u64 = programs.sum();
    // Each program here has a separate session, which its answer names. Most users stay in the default session.
    let names = seen
        .iter()
        .map(|seen| tokenizer.text(&format!("\nsession: {}", seen.name)));
    let names: u64 = names.sum();
    let runs = "FROM runs JOIN receipts ON receipts.run = runs.id";
    let calls = "FROM calls WHERE run IN (SELECT run FROM receipts)";
    let estimates: [Estimate; 5] = [
        (
            "program",
            format!("SELECT sum(code_bytes), {programs} {runs}"),
            estimates::program,
        ),
        (
            "shown",
            format!(
                "SELECT sum(coalesce(result_bytes, 0) + coalesce(stdout_bytes, 0) + coalesce(stderr_bytes, 0)), \
                 sum(read - own) - {names} {runs}"
            ),
            estimates::shown,
        ),
        (
            "searched",
            format!("SELECT sum(search_bytes), sum(searched) {runs}"),
            estimates::searched,
        ),
        (
            "arguments",
            format!("SELECT sum(arguments_bytes), (SELECT sum(written) FROM receipt_calls) {calls}"),
            estimates::arguments,
        ),
        (
            "answers",
            format!("SELECT sum(coalesce(result_bytes, 0)), (SELECT sum(read) FROM receipt_calls) {calls}"),
            estimates::answers,
        ),
    ];
    let mut table = String::new();
    let mut most_off: f64 = 0.0;
    for (name, of, estimate) in estimates {
        let (bytes, tokens) = recorded(codeyard, &of).await;
        let off = off(estimate(bytes), tokens);
        most_off = most_off.max(off);
        let hundred = bytes * 100 / tokens;
        writeln!(
            table,
            "{name}: a hundred tokens are {hundred} bytes; estimated {off:.1} % off"
        )
        .unwrap();
    }
    println!("{table}");
    assert!(most_off <= MOST_OFF_ESTIMATED, "{table}");
}

#[tokio::test]
async fn receipts_equal_another_tokenizer_s_count_of_the_messages() {
    let codeyard = Codeyard::new()
        .unwrap()
        .real_servers()
        .unwrap()
        .older_servers()
        .unwrap()
        .record_traffic()
        .unwrap();
    let data = codeyard.upstreams_data().display().to_string();
    let mut traffic = Traffic {
        directory: codeyard.traffic_directory(),
        read: HashMap::new(),
    };
    let mut client = CodeClient::of(codeyard).await;
    client.search(json!({"query": "everything that lists"})).await;
    let calls = serde_json::to_string(&CALLS.replace("@DATA@", &data)).unwrap();
    client
        .run(&format!("open('/workspace/calls.jsonl', 'w').write({calls})"))
        .await;
    let prepared = client.run(PREPARE).await;
    assert_eq!(prepared.status(), "completed", "{prepared:?}");
    let listed = traffic.news("out");
    traffic.news("in");
    for query in SEARCHES {
        client.search(json!({"query": query})).await;
    }

    let mut seen = Vec::new();
    for (name, code) in programs() {
        seen.push(run(&mut client, &mut traffic, name, &code.replace("@DATA@", &data)).await);
    }
    assert!(seen.len() >= 30, "{}", seen.len());
    let mut table = String::new();
    let mut most_off: f64 = 0.0;
    for (seen, others) in seen.iter().zip(others(&seen).await) {
        let ours = ours(&seen.receipt);
        let off = ours.iter().zip(&others).map(|(ours, other)| off(*ours, *other));
        let off = off.fold(0.0, f64::max);
        most_off = most_off.max(off);
        let (name, calls) = (&seen.name, &seen.receipt["calls"]["made"]);
        writeln!(table, "| {name} | {calls} | {ours:?} | {others:?} | {off:.1} % |").unwrap();
    }
    assert!(most_off <= MOST_OFF, "{table}");

    let definitions: u64 = count(&definitions(&listed)).await.iter().sum();
    for seen in &seen {
        let ours = seen.receipt["tokens"]["direct"]["definitions"].as_u64().unwrap();
        assert!(
            off(ours, definitions) <= MOST_OFF,
            "{ours} and {definitions}: {}",
            seen.receipt
        );
    }
    let CodeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    check_estimates(&codeyard, &seen).await;
}
