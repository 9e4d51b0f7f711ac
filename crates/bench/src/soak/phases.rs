//! Thousands of sessions opened and closed, and sessions idle at once.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use serde_json::json;
use test_support::Era;

use super::installation::Installation;
use super::programs::{self, run};
use super::scale::Scale;
use super::watch::Verdict;
use crate::figures::Unit;
use crate::processes;

const IN_FLIGHT: u32 = 8;
const LOOKS: u32 = 40;
/// Sessions after which growth is judged.
const LEAST: u32 = 500;
/// Bytes of an idle session above which the soak fails. The promise is 2 MB; `bench memory`
/// measures the difference.
const IDLE: f64 = 2.5e6;

/// Sessions opened, used once and evicted, several at once.
pub async fn churn(data: &Path, scale: Scale, rng: &mut Rng) -> Result<Verdict> {
    let settings = format!("{}[sessions]\nmax = 16", programs::SETTINGS);
    let installation = Installation::new(data, &settings).await?;
    let mut watch = installation.watch(format!("{} sessions opened and closed", scale.sessions), LEAST);
    let mut client = installation.codeyard.mcp(Era::Modern).await?;
    let pid = client.pid().context("it runs")?;
    let batches = scale.sessions / IN_FLIGHT;
    for batch in 0..batches {
        let mut waiting = Vec::new();
        for _ in 0..IN_FLIGHT {
            let plan = programs::next_in_new_session(rng);
            waiting.push((plan.start(&mut client).await?, plan));
        }
        for (id, plan) in waiting {
            watch.complain(plan.check(&client.answer(&id).await?));
        }
        if batch % (batches / LOOKS).max(1) == 0 {
            watch.look(batch * IN_FLIGHT, &[pid]);
        }
    }
    ensure!(client.finish().await?.success(), "codeyard failed at its end");
    Ok(watch.end().await)
}

/// Concurrently open sessions; each must keep its variable.
pub async fn idle(data: &Path, scale: Scale) -> Result<Verdict> {
    let settings = format!(
        "[sessions]\nmax = {}\nidle_memory = \"64 GiB\"",
        scale.idle + IN_FLIGHT
    );
    let installation = Installation::new(data, &settings).await?;
    let mut watch = installation.watch(format!("{} sessions idle at once", scale.idle), LEAST);
    let mut client = installation.codeyard.mcp(Era::Modern).await?;
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
    ensure!(client.finish().await?.success(), "codeyard failed at its end");
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
