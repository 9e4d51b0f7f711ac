//! Many servers, many sessions: concurrent calls of replayed servers, alone and next to servers
//! that hang and crash.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use serde_json::{Value, json};
use test_support::{Era, McpClient, ServerDefinition, catalogue, descendants};

use super::installation::Installation;
use super::programs::{self, run};
use super::scale::Scale;
use super::watch::{Verdict, Watch};

/// Open sessions, each with its own calls.
const SESSIONS: u32 = 50;
const CALLS: usize = 20;
const IN_FLIGHT: usize = 4;
/// Rounds of each kind; a round alone alternates with a round next to bad servers.
const ROUNDS: u32 = 6;
/// Calls after which growth is judged.
const LEAST: u32 = 5_000;
/// How much the p99 of the calls may grow next to bad servers.
const SLOWER: f64 = 1.5;
/// Servers that never answer a call, and servers that end in each call.
const HANGING: [&str; 3] = ["hangs0", "hangs1", "hangs2"];
const CRASHING: [&str; 2] = ["crashes0", "crashes1"];
/// Longest time of calls to bad servers, in milliseconds.
const COMPANY: u64 = 280_000;
/// Time limit of calls to hanging servers, in milliseconds.
const PATIENCE: u64 = 2_000;

struct Target {
    server: String,
    tool: String,
    arguments: Value,
}

pub async fn hub(data: &Path, scale: Scale, rng: &mut Rng) -> Result<Verdict> {
    let settings = format!("{}[sessions]\nmax = {}", programs::SETTINGS, SESSIONS + 8);
    let mut installation = Installation::new(data, &settings).await?;
    let names = catalogue::servers();
    installation.codeyard = with_company(installation.codeyard.catalogue());
    let targets: Vec<Target> = names.iter().filter_map(|name| target(name)).collect();
    let title = format!(
        "{} servers, {SESSIONS} sessions, {CALLS} calls in each",
        names.len()
    );
    let mut watch = installation.watch(title, LEAST);
    let mut client = installation.codeyard.mcp(Era::Modern).await?;
    let pid = client.pid().context("it runs")?;
    let rounds = if scale.runs < Scale::WHOLE.runs { 2 } else { ROUNDS };
    // Start every server and session before the measurement.
    let (_, failed) = round(&mut client, &targets, &targets, rng).await?;
    watch.complain(failed);
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    let mut done = 0;
    for _ in 0..rounds {
        for company in [false, true] {
            let bad = if company {
                start_company(&mut client).await?
            } else {
                Vec::new()
            };
            let (times, failed) = round(&mut client, &targets, &[], rng).await?;
            if company {
                end_company(&mut client, &bad, &mut watch).await?;
            }
            watch.complain(failed);
            done += u32::try_from(times.len()).unwrap_or(0);
            let kind = if company { &mut beside } else { &mut alone };
            kind.push(times);
            watch.look(done, &[pid]);
        }
    }
    judge(&mut watch, &alone, &beside, targets.len());
    let children = replayed(pid);
    watch.state("processes of replayed servers", children.to_string());
    if children > names.len() {
        watch.complain([format!("{children} processes of {} servers", names.len())]);
    }
    ensure!(client.finish().await?.success(), "codeyard failed at its end");
    Ok(watch.end().await)
}

fn with_company(codeyard: test_support::Codeyard) -> test_support::Codeyard {
    let hanging = HANGING.map(|name| (name, ServerDefinition::hostile("deaf").timeout(PATIENCE)));
    let crashing = CRASHING.map(|name| (name, ServerDefinition::hostile("dies")));
    let company = hanging.into_iter().chain(crashing);
    company.fold(codeyard, |codeyard, (name, definition)| {
        codeyard.server(name, &definition)
    })
}

/// The first tool of a server that needs no arguments, or only arbitrary text.
fn target(server: &str) -> Option<Target> {
    let text = fs::read_to_string(catalogue::file(server)).ok()?;
    let tools: Vec<Value> = serde_json::from_str(&text).ok()?;
    tools.iter().find_map(|tool| {
        let schema = &tool["inputSchema"];
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let any_text = json!("string");
        let mut arguments = json!({});
        for name in required.iter().filter_map(Value::as_str) {
            let rule = schema["properties"][name].as_object()?;
            let is_any = rule.get("type") == Some(&any_text)
                && !["enum", "format", "pattern", "minLength"]
                    .iter()
                    .any(|key| rule.contains_key(*key));
            arguments[name] = is_any.then(|| json!("x"))?;
        }
        Some(Target {
            server: server.to_owned(),
            tool: tool["name"].as_str()?.to_owned(),
            arguments,
        })
    })
}

/// Makes one run in every session, some at once; returns the times of the calls in milliseconds,
/// and the failures. The targets in `first` are called in order, then random ones.
async fn round(
    client: &mut McpClient,
    targets: &[Target],
    first: &[Target],
    rng: &mut Rng,
) -> Result<(Vec<f64>, Vec<String>)> {
    let (mut times, mut failed) = (Vec::new(), Vec::new());
    let mut first = first.iter();
    let sessions: Vec<u32> = (0..SESSIONS).collect();
    for batch in sessions.chunks(IN_FLIGHT) {
        let mut waiting = Vec::new();
        for session in batch {
            let mut code = String::from("import time\ntimes = []\n");
            for _ in 0..CALLS {
                let target = first.next().unwrap_or(&targets[rng.usize(..targets.len())]);
                code.push_str(&format!(
                    "start = time.perf_counter()\nawait tools[{:?}][{:?}]({})\ntimes.append((time.perf_counter() - start) * 1000)\n",
                    target.server, target.tool, target.arguments
                ));
            }
            code.push_str("return times");
            let arguments = json!({"code": code, "session": format!("s{session}")});
            let params = json!({"name": "execute_code", "arguments": arguments});
            waiting.push(client.start("tools/call", params).await?);
        }
        for id in waiting {
            let answer = client.answer(&id).await?;
            let content = &answer["result"]["structuredContent"];
            match content["result"].as_array() {
                Some(found) => times.extend(found.iter().filter_map(Value::as_f64)),
                None => failed.push(format!("a run of healthy calls failed: {content}")),
            }
        }
    }
    Ok((times, failed))
}

/// Each run calls a bad server repeatedly until cancelled.
async fn start_company(client: &mut McpClient) -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for name in HANGING.iter().chain(&CRASHING) {
        let code = format!(
            "import asyncio\nwhile True:\n    try:\n        await tools.{name}.echo(message='x')\n    \
             except ToolError:\n        await asyncio.sleep(0.25)"
        );
        let arguments = json!({"code": code, "session": *name, "timeout_ms": COMPANY});
        let params = json!({"name": "execute_code", "arguments": arguments});
        runs.push(client.start("tools/call", params).await?);
    }
    Ok(runs)
}

async fn end_company(client: &mut McpClient, runs: &[Value], watch: &mut Watch) -> Result<()> {
    for id in runs {
        client.cancel(id).await?;
    }
    for name in HANGING.iter().chain(&CRASHING) {
        let code = format!(
            "try:\n    await tools.{name}.echo(message='x')\nexcept ToolError as error:\n    return str(error)"
        );
        let content = run(client, json!({"code": code, "session": *name})).await?;
        if !content["result"]
            .as_str()
            .is_some_and(|reason| reason.contains(*name))
        {
            watch.complain([format!("{name} answered a call: {content}")]);
        }
    }
    Ok(())
}

/// Compares the p99 of the calls, alone and next to bad servers: the median of the rounds, because
/// the machine has other work.
fn judge(watch: &mut Watch, alone: &[Vec<f64>], beside: &[Vec<f64>], servers: usize) {
    let calls: usize = alone.iter().chain(beside).map(Vec::len).sum();
    watch.state("calls, and servers called", format!("{calls}, {servers}"));
    let rows = [
        ("a call, alone", alone),
        ("a call, beside three that hang and two that crash", beside),
    ];
    let mut tails = Vec::new();
    for (name, rounds) in rows {
        let [middle, tail] = [50, 99].map(|percent| {
            let each: Vec<f64> = rounds.iter().map(|times| quantile(times, percent)).collect();
            quantile(&each, 50)
        });
        watch.state(name, format!("median {middle:.2} ms, p99 {tail:.2} ms"));
        tails.push(tail);
    }
    let times = tails[1] / tails[0];
    watch.state("p99 in bad company", format!("{times:.2} x"));
    if times > SLOWER {
        watch.complain([format!("p99 in bad company is {times:.2} x of alone")]);
    }
}

fn quantile(numbers: &[f64], percent: usize) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
        .get(sorted.len() * percent / 100)
        .copied()
        .unwrap_or(f64::NAN)
}

fn replayed(codeyard: u32) -> usize {
    let is_replay = |pid: u32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
        words.get(1) == Some(&&b"replay"[..])
    };
    descendants(codeyard)
        .iter()
        .filter(|process| is_replay(process.pid))
        .count()
}
