//! Runs over HTTP against runs over stdio, memory of idle connections, and concurrent clients.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::clients::{self, WARM, open};
use crate::figures::{Figure, Samples, Unit};
use crate::http_client::{HttpClient, Listening};
use crate::processes;
use crate::setting::Setting;

/// How much longer a run may take over HTTP, in microseconds.
const MOST: f64 = 150.0;
const RUNS: u32 = 50;
const IDLE: usize = 1000;
/// Most bytes of an idle connection.
const MOST_BYTES: f64 = 20.0 * 1024.0;
const CLIENTS: usize = 64;
const RUNS_OF_EACH: usize = 40;
/// The slowest client's median may be this multiple of the overall median.
const FAIR: f64 = 1.5;

pub async fn beside_stdio(setting: &Setting) -> Result<Vec<Figure>> {
    let codeyard = setting.codeyard()?;
    setting.placement.for_children()?;
    let mut stdio = open(&codeyard)?;
    let listening = Listening::start(&codeyard, "mcp")?;
    setting.placement.for_host()?;
    let mut http = listening.connect()?;
    http.initialize()?;
    let nothing = json!({"code": "1 + 1"});
    clients::execute(&mut stdio, &nothing)?;
    run(&mut http)?;
    tokio::time::sleep(WARM).await;
    let (mut over_stdio, mut over_http) = (Samples::default(), Samples::default());
    for _ in 0..setting.samples.div_ceil(4).max(20) {
        let started = Instant::now();
        for _ in 0..RUNS {
            clients::execute(&mut stdio, &nothing)?;
        }
        over_stdio.push(started.elapsed() / RUNS);
        let started = Instant::now();
        for _ in 0..RUNS {
            run(&mut http)?;
        }
        over_http.push(started.elapsed() / RUNS);
    }
    let place = setting.placement;
    let stdio = over_stdio.figure("live run over MCP stdio, beside HTTP", place);
    let http = over_http.figure("live run over HTTP", place);
    let http = http.beside(&stdio).at_most_more(&stdio, MOST);
    Ok(vec![stdio, http])
}

pub async fn many(setting: &Setting) -> Result<Vec<Figure>> {
    let codeyard = setting.codeyard()?.settings("[sessions]\nmax = 100\n");
    let listening = Listening::start(&codeyard, "mcp")?;
    let mut figures = vec![idle(&listening, setting)?];
    figures.extend(clients(&listening, setting)?);
    Ok(figures)
}

fn idle(listening: &Listening, setting: &Setting) -> Result<Figure> {
    let mut first = listening.connect()?;
    first.initialize()?;
    let before = processes::resident_memory(listening.pid());
    let mut resting = Vec::with_capacity(IDLE);
    for _ in 0..IDLE {
        let mut client = listening.connect()?;
        client.join(&first);
        client.ask("ping", &json!({}))?;
        resting.push(client);
    }
    let grown = processes::resident_memory(listening.pid()) - before;
    let mut memory = Samples::default();
    memory.push_number(grown / IDLE as f64);
    let name = format!("memory of a resting HTTP connection, of {IDLE}");
    Ok(memory
        .figure_in(Unit::Bytes, &name, setting.placement)
        .at_most(MOST_BYTES))
}

/// All clients run concurrently, each in its own session.
fn clients(listening: &Listening, setting: &Setting) -> Result<Vec<Figure>> {
    let mut open = Vec::with_capacity(CLIENTS);
    for _ in 0..CLIENTS {
        let mut client = listening.connect()?;
        client.initialize()?;
        run(&mut client)?;
        open.push(client);
    }
    let measured: Vec<Result<Vec<Duration>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = open
            .iter_mut()
            .map(|client| scope.spawn(|| (0..RUNS_OF_EACH).map(|_| run(client)).collect()))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended
            .map(|ended| ended.unwrap_or_else(|_| Err(anyhow::anyhow!("a client panicked"))))
            .collect()
    });
    let (mut all, mut slowest) = (Samples::default(), Vec::new());
    for client in measured {
        let mut client = client?;
        client.iter().for_each(|run| all.push(*run));
        client.sort();
        if client.get(RUNS_OF_EACH / 2) > slowest.get(RUNS_OF_EACH / 2) {
            slowest = client;
        }
    }
    let mut slowest_client = Samples::default();
    slowest.into_iter().for_each(|run| slowest_client.push(run));
    let all = all.figure(
        &format!("live run of {CLIENTS} clients over HTTP at once"),
        setting.placement,
    );
    let slowest = slowest_client.figure(
        &format!("live run of the slowest of {CLIENTS} clients"),
        setting.placement,
    );
    let slowest = slowest.beside(&all).at_most_times(FAIR);
    Ok(vec![all, slowest])
}

pub fn run(client: &mut HttpClient) -> Result<Duration> {
    let started = Instant::now();
    execute(client, &json!({"code": "1 + 1"}))?;
    Ok(started.elapsed())
}

/// The result of a program that completes.
pub fn execute(client: &mut HttpClient, arguments: &Value) -> Result<Value> {
    let parameters = json!({"name": "execute_code", "arguments": arguments});
    let mut answer: Value = client.ask("tools/call", &parameters)?;
    let result = answer["result"]["structuredContent"].take();
    ensure!(result["status"] == "completed", "{answer} {result}");
    Ok(result)
}
