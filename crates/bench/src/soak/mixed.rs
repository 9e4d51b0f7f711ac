//! Runs of every kind, by several clients, in rounds; between rounds nothing runs and the programs are sampled.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use serde_json::json;
use test_support::{Era, McpClient};
use tokio::task::JoinSet;

use super::installation::Installation;
use super::programs::{self, run};
use super::recorded_runs::{AnsweredRun, RecordedRuns};
use super::scale::Scale;
use super::watch::{Verdict, by_kind};
use crate::figures::Unit;
use crate::processes;

/// Runs after which growth is judged.
const LEAST: u32 = 5_000;
/// Rounds; each ends with one sample.
const ROUNDS: u32 = 80;
/// Interval between two counts of processes; a round is over when they agree.
const SETTLING: Duration = Duration::from_millis(40);
/// Longest wait for two equal counts.
const CALLS_UNTIL_STABLE: Duration = Duration::from_secs(5);

struct Worker {
    client: McpClient,
    rng: Rng,
    surprises: Vec<String>,
    answered_runs: Vec<AnsweredRun>,
    done: BTreeMap<&'static str, u32>,
}

pub async fn mixed(data: &Path, scale: Scale, rng: &mut Rng) -> Result<Verdict> {
    // The pool's size is fixed, because a growing pool would look like a leak.
    let settings = format!("{}[sessions]\nmax = 4\n[pool]\nsize = 1", programs::SETTINGS);
    let installation = Installation::new(data, &settings).await?;
    let title = format!("{} mixed runs of {} clients at once", scale.runs, scale.clients);
    let mut watch = installation.watch(title, LEAST);
    let mut workers = Vec::new();
    for _ in 0..scale.clients {
        let client = installation.codeyard.mcp(Era::Modern).await?;
        workers.push(Worker {
            client,
            rng: rng.fork(),
            surprises: Vec::new(),
            answered_runs: Vec::new(),
            done: BTreeMap::new(),
        });
    }
    let pids: Vec<u32> = workers.iter().filter_map(|worker| worker.client.pid()).collect();
    let each = scale.runs.div_ceil(ROUNDS * scale.clients);
    let mut working = Duration::ZERO;
    for round in 1..=ROUNDS {
        let started = Instant::now();
        workers = all(workers, each).await?;
        working += started.elapsed();
        settle(&pids).await;
        watch.look(round * each * scale.clients, &pids);
    }
    let total = ROUNDS * each * scale.clients;
    watch.state(
        "runs",
        format!(
            "{total}, {}",
            Unit::PerSecond.show(f64::from(total) / working.as_secs_f64())
        ),
    );
    for kind in programs::kinds() {
        let count: u32 = workers.iter().filter_map(|worker| worker.done.get(kind)).sum();
        watch.state(&format!("of them {kind}"), count.to_string());
    }
    let mut answered_runs = Vec::new();
    for worker in workers {
        watch.complain(worker.surprises);
        answered_runs.extend(worker.answered_runs);
        ensure!(
            worker.client.finish().await?.success(),
            "codeyard failed at its end"
        );
    }
    let book = RecordedRuns::read(&installation.codeyard).await?;
    watch.state(
        "answers, and runs recorded",
        format!("{}, {}", answered_runs.len(), book.len()),
    );
    watch.complain(by_kind(
        book.missing(&answered_runs)
            .into_iter()
            .chain(book.running())
            .collect(),
    ));
    Ok(watch.end().await)
}

async fn all(workers: Vec<Worker>, count: u32) -> Result<Vec<Worker>> {
    let mut working = JoinSet::new();
    for mut worker in workers {
        working.spawn(async move {
            for _ in 0..count {
                worker.one().await?;
            }
            anyhow::Ok(worker)
        });
    }
    let mut done = Vec::new();
    while let Some(worker) = working.join_next().await {
        done.push(worker??);
    }
    Ok(done)
}

/// Waits until all ending processes are gone and idle processes are ready.
async fn settle(programs: &[u32]) {
    let count = || {
        programs
            .iter()
            .map(|pid| processes::family(*pid).len())
            .sum::<usize>()
    };
    let waiting = Instant::now();
    let mut before = count();
    loop {
        tokio::time::sleep(SETTLING).await;
        let now = count();
        if now == before || waiting.elapsed() > CALLS_UNTIL_STABLE {
            return;
        }
        before = now;
    }
}

impl Worker {
    async fn one(&mut self) -> Result<()> {
        let plan = programs::next(&mut self.rng);
        let id = plan.start(&mut self.client).await?;
        match plan.end {
            Ok(_) => {
                let answer = self.client.answer(&id).await?;
                self.surprises.extend(plan.check(&answer));
                self.answered_runs.extend(AnsweredRun::by(&answer));
            }
            Err(after) => {
                tokio::time::sleep(Duration::from_millis(after)).await;
                self.client.cancel(&id).await?;
                // The next run waits in the session's queue until the cancelled run is over.
                let next = run(&mut self.client, json!({"code": "1"})).await;
                next.context("the run after a cancelled one")?;
            }
        }
        *self.done.entry(plan.kind).or_default() += 1;
        Ok(())
    }
}
