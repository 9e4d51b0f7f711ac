//! What a soak does: sessions opened and closed, sessions idle at once, runs of many clients at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use test_support::{Codeyard, Era, McpClient};
use tokio::task::JoinSet;

use super::watch::{Verdict, Watch};
use super::{Scale, report};
use crate::figures::Unit;
use crate::processes;

/// Requests under way of one client.
const IN_FLIGHT: u32 = 8;
/// Looks at the programs in each phase.
const LOOKS: u32 = 25;
/// Bytes that an idle session may hold before the soak fails. The promise is 2 MB, and `bench memory` says how far off it is.
const IDLE: f64 = 2.5e6;

/// A program, and the status that it must end with.
struct Case {
    code: &'static str,
    timeout_ms: Option<u32>,
    status: &'static str,
}

/// What programs do, well and badly; each has its turn.
const CASES: [Case; 10] = [
    case("print('x' * 1000)", "completed"),
    case("await tools.stub.add(a=1, b=2)", "completed"),
    case("open('/results/out.txt', 'w').write('x' * 1000)", "completed"),
    case(
        "import pandas\npandas.DataFrame({'a': range(100)}).a.sum()",
        "completed",
    ),
    case("1 / 0", "failed"),
    case(
        "import threading\nthreading.Thread(target=print).start()",
        "completed",
    ),
    case(
        "import subprocess\nsubprocess.Popen(['sleep', '1000']).pid",
        "completed",
    ),
    case("bytearray(20_000_000)[0]", "completed"),
    case("import os\nos._exit(3)", "failed"),
    Case {
        code: "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        timeout_ms: Some(100),
        status: "timed_out",
    },
];

const fn case(code: &'static str, status: &'static str) -> Case {
    Case {
        code,
        timeout_ms: None,
        status,
    }
}

/// Does all phases, again and again until so many seconds have passed; gives what was wrong.
pub async fn until(seconds: u64, data: &Path, scale: Scale) -> Result<Vec<String>> {
    let (started, long_enough) = (Instant::now(), Duration::from_secs(seconds));
    let mut wrong = Vec::new();
    loop {
        wrong.extend(report(churn(data, scale).await?));
        wrong.extend(report(idle(data, scale).await?));
        wrong.extend(report(runs(data, scale).await?));
        if started.elapsed() >= long_enough {
            return Ok(wrong);
        }
    }
}

/// Sessions opened, used once and closed to make room for others, several at once.
async fn churn(data: &Path, scale: Scale) -> Result<Verdict> {
    let ground = Ground::new(data, "[sessions]\nmax = 16").await?;
    let mut watch = ground.watch(format!("{} sessions opened and closed", scale.sessions));
    let mut client = ground.codeyard.mcp(Era::Modern).await?;
    let pid = client.pid().context("it runs")?;
    let batches = scale.sessions / IN_FLIGHT;
    for batch in 0..batches {
        let mut waiting = Vec::new();
        for number in 0..IN_FLIGHT {
            let case = &CASES[index(batch * IN_FLIGHT + number)];
            waiting.push((start(&mut client, case, "new").await?, case));
        }
        for (id, case) in waiting {
            watch.complain(case.check(&client.answer(&id).await?));
        }
        if batch % (batches / LOOKS).max(1) == 0 {
            watch.look(&[pid]);
        }
    }
    ensure!(client.finish().await?.success(), "codeyard failed in the end");
    Ok(watch.end().await)
}

/// Sessions that are all open at once; each has kept what was put into it.
async fn idle(data: &Path, scale: Scale) -> Result<Verdict> {
    let settings = format!(
        "[sessions]\nmax = {}\nidle_memory = \"64 GiB\"",
        scale.idle + IN_FLIGHT
    );
    let ground = Ground::new(data, &settings).await?;
    let mut watch = ground.watch(format!("{} sessions idle at once", scale.idle));
    let mut client = ground.codeyard.mcp(Era::Modern).await?;
    let pid = client.pid().context("it runs")?;
    run(&mut client, json!({"code": "import pandas", "session": "first"})).await?;
    let before = processes::proportional_memory(pid);
    for number in 0..scale.idle {
        let arguments =
            json!({"code": format!("import pandas\nx = {number}"), "session": format!("s{number}")});
        run(&mut client, arguments).await?;
    }
    watch.gather(pid);
    let each = (processes::proportional_memory(pid) - before) / f64::from(scale.idle);
    watch.state(
        "memory of an idle session, shared pages once",
        Unit::Bytes.show(each),
    );
    let charged = processes::charged_to_sessions(pid);
    let most = charged.iter().copied().fold(0.0, f64::max);
    watch.state(
        "groups of sessions, of them the most charged",
        format!("{}, {}", charged.len(), Unit::Bytes.show(most)),
    );
    for number in 0..scale.idle {
        let answer = run(&mut client, json!({"code": "x", "session": format!("s{number}")})).await?;
        ensure!(
            answer["result"] == number,
            "session s{number} lost its variable: {answer}"
        );
    }
    let closing = Instant::now();
    ensure!(client.finish().await?.success(), "codeyard failed in the end");
    watch.state(
        "end of all of them",
        format!("{:.1} s", closing.elapsed().as_secs_f64()),
    );
    let mut verdict = watch.end().await;
    if each > IDLE {
        verdict
            .wrong
            .push(format!("an idle session holds {}", Unit::Bytes.show(each)));
    }
    Ok(verdict)
}

/// Runs of several clients at once, most of them in their live session.
async fn runs(data: &Path, scale: Scale) -> Result<Verdict> {
    // The pool of each program would grow with demand meanwhile, which is no leak.
    let ground = Ground::new(data, "[sessions]\nmax = 4\n[pool]\nsize = 1").await?;
    let title = format!("{} runs of {} clients at once", scale.runs, scale.clients);
    let mut watch = ground.watch(title);
    let (mut clients, mut pids) = (JoinSet::new(), Vec::new());
    for _ in 0..scale.clients {
        let mut client = ground.codeyard.mcp(Era::Modern).await?;
        pids.push(client.pid().context("it runs")?);
        let count = scale.runs / scale.clients;
        clients.spawn(async move {
            let started = Instant::now();
            let surprises = work(&mut client, count).await?;
            anyhow::Ok((client, surprises, started.elapsed()))
        });
    }
    let mut idle = Vec::new();
    let mut slowest = Duration::ZERO;
    while !clients.is_empty() {
        tokio::select! {
            Some(done) = clients.join_next() => {
                let (client, surprises, took) = done??;
                watch.complain(surprises);
                slowest = slowest.max(took);
                idle.push(client);
            }
            () = tokio::time::sleep(Duration::from_millis(500)) => watch.look(&pids),
        }
    }
    let rate = f64::from(scale.runs) / slowest.as_secs_f64();
    watch.state("runs", Unit::PerSecond.show(rate));
    for client in idle {
        ensure!(client.finish().await?.success(), "codeyard failed in the end");
    }
    Ok(watch.end().await)
}

/// One run in fifty opens a session and may end badly; the others go on in the same one.
async fn work(client: &mut McpClient, count: u32) -> Result<Vec<String>> {
    let mut surprises = Vec::new();
    for number in 0..count {
        if number % 50 == 49 {
            let case = &CASES[index(number / 50)];
            let id = start(client, case, "new").await?;
            surprises.extend(case.check(&client.answer(&id).await?));
        } else {
            let code = format!("total = {number}\nprint(total)\nawait tools.stub.add(a=total, b=1)");
            let answer = run(client, json!({"code": code})).await?;
            ensure!(answer["result"]["sum"] == number + 1, "{answer}");
        }
    }
    Ok(surprises)
}

async fn start(client: &mut McpClient, case: &Case, session: &str) -> Result<Value> {
    let mut arguments = json!({"code": case.code, "session": session});
    if let Some(timeout) = case.timeout_ms {
        arguments["timeout_ms"] = json!(timeout);
    }
    let params = json!({"name": "execute_code", "arguments": arguments});
    client.start("tools/call", params).await
}

/// A run that has to complete; gives its structured content.
async fn run(client: &mut McpClient, arguments: Value) -> Result<Value> {
    let mut answer = client.call_tool("execute_code", arguments).await?;
    let content = answer["structuredContent"].take();
    ensure!(content["status"] == "completed", "{content}");
    Ok(content)
}

impl Case {
    /// Says what happened if the program did not end as it must.
    fn check(&self, answer: &Value) -> Option<String> {
        let content = &answer["result"]["structuredContent"];
        let surprise = content["status"] != self.status;
        surprise.then(|| format!("{:?} ended so: {content}{}", self.code, answer["error"]))
    }
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or_default() % CASES.len()
}

/// An installation with directories of its own in which a codeyard has run before.
struct Ground {
    codeyard: Codeyard,
    directories: Vec<PathBuf>,
}

impl Ground {
    async fn new(managed: &Path, settings: &str) -> Result<Self> {
        let codeyard = Codeyard::with_stub()?.settings(settings);
        let temporary = codeyard.directory().join("tmp");
        fs::create_dir(&temporary)?;
        let codeyard = codeyard.env("TMPDIR", &temporary);
        let data = codeyard.data_directory();
        fs::create_dir_all(&data)?;
        std::os::unix::fs::symlink(std::path::absolute(managed)?.join("python"), data.join("python"))?;
        let mut client = codeyard.mcp(Era::Modern).await?;
        run(&mut client, json!({"code": "await tools.stub.add(a=1, b=2)"})).await?;
        client.finish().await?;
        Ok(Self {
            codeyard,
            directories: vec![data, temporary],
        })
    }

    fn watch(&self, title: String) -> Watch {
        Watch::begin(title, self.directories.clone())
    }
}
