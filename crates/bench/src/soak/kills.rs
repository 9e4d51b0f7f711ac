//! Codeyard killed at random moments under load: soon after each kill nothing is left, and the next start works.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use fastrand::Rng;
use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, waitpid};
use serde_json::{Value, json};
use test_support::{Era, McpClient, descendants};

use super::installation::Installation;
use super::machine_state::ProgramResources;
use super::programs::{self, run};
use super::recorded_runs::{AnsweredRun, RecordedRuns};
use super::watch::{Verdict, Watch, by_kind};
use crate::processes;

/// All leftovers must be gone after this time, even on a busy machine.
const SOON: Duration = Duration::from_secs(10);
/// Latest kill, in milliseconds after the start, and latest kill during the start.
const LATEST: u64 = 2_000;
const BEGINNING: u64 = 150;
const IN_FLIGHT: usize = 4;
/// Longest wait for an answer; a kill comes much earlier.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// Records are written after the answers; a kill may lose the last 100 ms.
    Behind,
    /// Records are written before the answers.
    Required,
}

#[derive(Default)]
struct Tally {
    /// Times from each kill until nothing was left.
    gone: Vec<Duration>,
    /// Answers before the kills, and how many of them must have a record.
    answered: usize,
    promised: usize,
}

pub async fn kills(data: &Path, count: u32, promise: Promise, rng: &mut Rng) -> Result<Verdict> {
    // Orphans of a killed codeyard become children of this process, so that the search finds them all.
    set_child_subreaper(Some(getpid()))?;
    let (settings, records) = match promise {
        Promise::Behind => (programs::SETTINGS.to_owned(), "records written behind"),
        Promise::Required => (
            format!("{}[records]\nrecord = \"required\"", programs::SETTINGS),
            "records required",
        ),
    };
    let installation = Installation::new(data, &settings).await?;
    let title = format!("{count} kills of codeyard under load, {records}");
    let mut watch = installation.watch(title, 0);
    let mut tally = Tally::default();
    for _ in 0..count {
        one(&installation, promise, rng, &mut watch, &mut tally).await?;
    }
    tally.gone.sort();
    if let (Some(median), Some(most)) = (tally.gone.get(tally.gone.len() / 2), tally.gone.last()) {
        let figure = format!("{} ms, {} ms", median.as_millis(), most.as_millis());
        watch.state("time until nothing was left: median, longest", figure);
    }
    let answers = format!("{}, {}", tally.answered, tally.promised);
    watch.state("answers, and records required", answers);
    watch.state(
        "runs recorded",
        RecordedRuns::read(&installation.codeyard)
            .await?
            .len()
            .to_string(),
    );
    Ok(watch.end().await)
}

async fn one(
    installation: &Installation,
    promise: Promise,
    rng: &mut Rng,
    watch: &mut Watch,
    tally: &mut Tally,
) -> Result<()> {
    let latest = if rng.u32(..4) == 0 { BEGINNING } else { LATEST };
    let moment = Duration::from_millis(rng.u64(..latest));
    let mut client = installation.codeyard.mcp_unopened()?;
    let pid = client.pid().context("it runs")?;
    let mut answered_runs = Vec::new();
    tokio::select! {
        ended = load(&mut client, rng, &mut answered_runs) => bail!("codeyard ended before it was killed: {ended:?}"),
        () = tokio::time::sleep(moment) => {}
    }
    let mut owned = ProgramResources::default();
    owned.gather(pid);
    client.kill()?;
    let killed = Instant::now();
    // The pipe still holds codeyard's last output.
    while let Ok(answer) = client.wait_for("an answer", PATIENCE, is_answer).await {
        answered_runs.extend(AnsweredRun::by(&answer));
    }
    client.wait().await?;
    let left = loop {
        let mut left = orphans(&[]);
        left.extend(owned.left());
        if left.is_empty() || killed.elapsed() > SOON {
            break left;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    };
    tally.gone.push(killed.elapsed());
    tally.answered += answered_runs.len();
    answered_runs.retain(|answered_runs| promise == Promise::Required || answered_runs.is_before(killed));
    tally.promised += answered_runs.len();
    let book = RecordedRuns::read(&installation.codeyard).await?;
    let wrong = left
        .into_iter()
        .chain(book.missing(&answered_runs))
        .chain(book.running());
    let wrong = by_kind(wrong.collect()).into_iter();
    watch.complain(wrong.map(|wrong| format!("killed {} ms after its start: {wrong}", moment.as_millis())));
    let mut next = installation
        .codeyard
        .mcp(Era::Modern)
        .await
        .context("the next codeyard")?;
    run(&mut next, json!({"code": "1"}))
        .await
        .context("the next codeyard")?;
    ensure!(
        next.finish().await?.success(),
        "the next codeyard failed at its end"
    );
    Ok(())
}

/// Opens the connection and repeats requests forever; collects the answers.
async fn load(client: &mut McpClient, rng: &mut Rng, answered_runs: &mut Vec<AnsweredRun>) -> Result<()> {
    client.open(Era::Modern).await?;
    let mut waiting = 0;
    loop {
        while waiting < IN_FLIGHT {
            let mut plan = programs::next(rng);
            if plan.arguments["session"].is_null() {
                plan.arguments["session"] = json!(format!("load-{}", rng.usize(..IN_FLIGHT)));
            }
            let id = plan.start(client).await?;
            match plan.end {
                Ok(_) => waiting += 1,
                Err(_) => client.cancel(&id).await?,
            }
        }
        let answer = client.wait_for("an answer", PATIENCE, is_answer).await?;
        answered_runs.extend(AnsweredRun::by(&answer));
        waiting -= 1;
    }
}

fn is_answer(message: &Value) -> bool {
    message.get("method").is_none()
}

/// Running orphans of a killed codeyard, without the families of running codeyards and Postgres; reaps ended orphans.
pub(super) fn orphans(living: &[u32]) -> Vec<String> {
    let families: BTreeSet<u32> = living.iter().flat_map(|pid| processes::family(*pid)).collect();
    let left = descendants(std::process::id());
    let children = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    for pid in children.split_whitespace() {
        let pid = pid
            .parse()
            .ok()
            .filter(|pid: &i32| !living.iter().any(|living| i64::from(*living) == i64::from(*pid)));
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            // A running process is left alone.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
    left.into_iter()
        .filter(|process| !families.contains(&process.pid) && !process.command.contains("postgres"))
        .map(|process| format!("process {} ({})", process.pid, process.command))
        .collect()
}
