//! What a client measures over MCP stdio: the first answer, new sessions, live runs, and the idle
//! program's memory.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use test_support::Codeyard;

use crate::figures::{Figure, Samples, Unit};
use crate::guests::SETTLE;
use crate::processes;
use crate::raw::Raw;
use crate::setting::Setting;

/// Few samples, because starts of the program are slow.
const STARTS: usize = 30;
/// Time for the zygotes to start after the first answer.
pub const WARM: Duration = Duration::from_secs(2);

pub fn open(codeyard: &Codeyard) -> Result<Raw> {
    Raw::open(&mut codeyard.command(["mcp"])?.into_std())
}

/// The program must complete.
pub fn execute(client: &mut Raw, arguments: &Value) -> Result<Duration> {
    let (answer, took) = client.call("execute_code", arguments)?;
    ensure!(answer["structuredContent"]["status"] == "completed", "{answer}");
    Ok(took)
}

pub async fn over_stdio(setting: &Setting) -> Result<Vec<Figure>> {
    let codeyard = setting.codeyard()?;
    setting.placement.for_children()?;
    let mut client = open(&codeyard)?;
    setting.placement.for_host()?;
    let (fresh, live) = (
        json!({"code": "print(1 + 1)", "session": "new"}),
        json!({"code": "1 + 1"}),
    );
    execute(&mut client, &live)?;
    execute(&mut client, &fresh)?;
    tokio::time::sleep(WARM).await;
    let (mut new_session, mut live_run) = (Samples::default(), Samples::default());
    for _ in 0..setting.samples {
        live_run.push(execute(&mut client, &live)?);
    }
    for _ in 0..setting.samples {
        new_session.push(execute(&mut client, &fresh)?);
        tokio::time::sleep(SETTLE).await;
    }
    let live_run = live_run.figure("run in a live session, over MCP stdio", setting.placement);
    let new_session = new_session.figure("run in a new session, over MCP stdio", setting.placement);
    Ok(vec![live_run.at_most(500.0), new_session.at_most(1000.0)])
}

pub async fn first_answer(setting: &Setting) -> Result<Vec<Figure>> {
    let without = setting.codeyard()?;
    let with = super::servers::with_stubs(setting, 100)?;
    let (mut none, mut hundred, mut memory) = (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..STARTS {
        for (codeyard, samples) in [(&without, &mut none), (&with, &mut hundred)] {
            let started = Instant::now();
            let client = open(codeyard)?;
            samples.push(started.elapsed());
            memory.push_number(processes::resident_memory(client.pid()));
            close(client)?;
        }
    }
    let name = "start of `codeyard mcp` to its first answer";
    let idle = "resident memory of `codeyard mcp` after its first answer";
    let place = setting.placement;
    Ok(vec![
        none.figure(name, place).at_most(20_000.0),
        hundred
            .figure(&format!("{name}, 100 servers"), place)
            .at_most(20_000.0),
        memory.figure_in(Unit::Bytes, idle, place).at_most(30e6),
    ])
}

/// Ends the program as a client does, and waits so that its end does not disturb the next start.
fn close(client: Raw) -> Result<()> {
    client.close().context("the end of `codeyard mcp`")
}
