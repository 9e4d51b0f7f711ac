//! Host calls of real upstream servers: gathered calls, and calls with many configured servers.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use test_support::{Codeyard, ServerDefinition};

use super::clients::{execute, open};
use crate::figures::{Figure, Samples};
use crate::raw::Raw;
use crate::setting::Setting;

const GATHERED: u32 = 100;
/// Milliseconds of the slowest call; the others take less.
const SLOWEST: u32 = 200;
/// Few samples, because each takes [`SLOWEST`].
const GATHERS: usize = 15;
/// Configured servers; the program calls one.
const COUNTS: [usize; 4] = [1, 10, 46, 100];
const CALLS: u32 = 50;

/// An installation with servers named `s0`, `s1` and so on.
pub fn with_stubs(setting: &Setting, count: usize) -> Result<Codeyard> {
    let numbered = (0..count).map(|number| format!("s{number}"));
    let codeyard = setting.codeyard()?;
    Ok(numbered.fold(codeyard, |codeyard, name| {
        codeyard.server(&name, &ServerDefinition::stub())
    }))
}

/// Each call is answered after its own delay.
pub async fn gather(setting: &Setting) -> Result<Vec<Figure>> {
    let codeyard = with_stubs(setting, 1)?.settings(&format!("[limits]\nconcurrent_host_calls = {GATHERED}"));
    let mut client = open(&codeyard)?;
    let slowest = f64::from(SLOWEST) / 1000.0;
    let one = json!({"code": format!("await tools.s0.slow(seconds={slowest})")});
    let all = json!({"code": format!(
        "import asyncio\nawait asyncio.gather(*[tools.s0.slow(seconds={slowest} * n / {GATHERED}) \
         for n in range(1, {GATHERED} + 1)])"
    )});
    let (mut alone, mut gathered) = (Samples::default(), Samples::default());
    execute(&mut client, &all)?;
    for _ in 0..GATHERS {
        alone.push(execute(&mut client, &one)?);
        gathered.push(execute(&mut client, &all)?);
    }
    let alone = alone.figure("the slowest of 100 calls, alone", setting.placement);
    let gathered = gathered.figure_over("100 gathered calls", &alone);
    Ok(vec![alone, gathered.at_most_times(1.2)])
}

/// Calls of one server with increasing numbers of configured servers, alternating.
pub async fn many(setting: &Setting) -> Result<Vec<Figure>> {
    let mut clients = Vec::new();
    for count in COUNTS {
        let codeyard = with_stubs(setting, count)?;
        let mut client = open(&codeyard)?;
        // Starts all servers, so that a call meets a full catalog.
        client.call("search_tools", &json!({"query": "echo", "limit": 50}))?;
        call(&mut client, count)?;
        clients.push((count, codeyard, client, Samples::default()));
    }
    for _ in 0..setting.samples.div_ceil(5).max(10) {
        for (count, _, client, samples) in &mut clients {
            samples.push(call(client, *count)?);
        }
    }
    let mut figures: Vec<Figure> = Vec::new();
    for (count, _, _, samples) in clients {
        let servers = if count == 1 {
            "1 server"
        } else {
            &format!("{count} servers")
        };
        let figure = samples.figure(
            &format!("host call of a real server, {servers}"),
            setting.placement,
        );
        let figure = match figures.first() {
            Some(first) => figure.beside(first).at_most_times(1.2),
            None => figure,
        };
        figures.push(figure);
    }
    Ok(figures)
}

/// The cost of one call: a run with many calls less a run without.
fn call(client: &mut Raw, count: usize) -> Result<Duration> {
    let server = format!("s{}", count / 2);
    let program = format!("for n in range({CALLS}):\n    await tools.{server}.echo(message='x')");
    let nothing: Value = json!({"code": "1 + 1"});
    let (full, empty) = (
        execute(client, &json!({"code": program}))?,
        execute(client, &nothing)?,
    );
    Ok(full.saturating_sub(empty) / CALLS)
}
