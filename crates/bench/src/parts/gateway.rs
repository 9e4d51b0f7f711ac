//! Runs over `codeyard serve`, with token, policy and record, against runs over stdio; concurrent sessions of many
//! users.

use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use test_support::Codeyard;

use super::clients::{WARM, execute, open};
use super::http::{self, run};
use crate::figures::{Figure, Samples, Unit};
use crate::http_client::{ClientTarget, HttpClient, Listening};
use crate::processes;
use crate::setting::Setting;

/// How much longer a run may take over the gateway, in microseconds.
const MOST: f64 = 200.0;
const RUNS: u32 = 50;
/// Users who take turns, because each may run 1,000 programs in a minute.
const USERS: usize = 8;
/// Most microseconds until a started gateway listens.
const START: f64 = 100_000.0;
const STARTS: usize = 20;
/// Concurrent users, and the sessions of each.
const PRINCIPALS: usize = 200;
const SESSIONS: [&str; 5] = ["default", "s1", "s2", "s3", "s4"];

pub async fn beside_stdio(setting: &Setting) -> Result<Vec<Figure>> {
    let codeyard = setting.codeyard()?;
    setting.placement.for_children()?;
    let mut stdio = open(&codeyard)?;
    let listening = Listening::start(&codeyard, "serve")?;
    setting.placement.for_host()?;
    let admin = Admin::new(&codeyard, &listening)?;
    let mut clients = admin.clients(USERS)?;
    let nothing = json!({"code": "1 + 1"});
    execute(&mut stdio, &nothing)?;
    tokio::time::sleep(WARM).await;
    let (mut over_stdio, mut over_gateway) = (Samples::default(), Samples::default());
    for sample in 0..setting.samples.div_ceil(4).max(20) {
        let started = Instant::now();
        for _ in 0..RUNS {
            execute(&mut stdio, &nothing)?;
        }
        over_stdio.push(started.elapsed() / RUNS);
        let client = &mut clients[sample % USERS];
        let started = Instant::now();
        for _ in 0..RUNS {
            run(client)?;
        }
        over_gateway.push(started.elapsed() / RUNS);
    }
    let place = setting.placement;
    let stdio = over_stdio.figure("live run over MCP stdio, beside the gateway", place);
    let gateway = over_gateway.figure("live run over the gateway", place);
    let gateway = gateway.beside(&stdio).at_most_more(&stdio, MOST);
    Ok(vec![stdio, gateway])
}

/// Concurrent sessions of many users, each with a variable of its own.
pub async fn sessions(setting: &Setting) -> Result<Vec<Figure>> {
    let codeyard = setting.codeyard()?;
    let mut starts = Samples::default();
    for _ in 0..STARTS {
        let started = Instant::now();
        let listening = Listening::start(&codeyard, "serve")?;
        starts.push(started.elapsed());
        listening.end()?;
    }
    let listening = Listening::start(&codeyard, "serve")?;
    let admin = Admin::new(&codeyard, &listening)?;
    let mut users = admin.clients(PRINCIPALS)?;
    for (user, client) in users.iter_mut().enumerate() {
        for (session, name) in SESSIONS.iter().enumerate() {
            let set = format!("x = {}", number(user, session));
            http::execute(client, &json!({"code": set, "session": name}))?;
        }
    }
    let mut runs = Samples::default();
    for (session, name) in SESSIONS.iter().enumerate() {
        for (user, client) in users.iter_mut().enumerate() {
            let started = Instant::now();
            let result = http::execute(client, &json!({"code": "x", "session": name}))?;
            runs.push(started.elapsed());
            ensure!(result["result"] == json!(number(user, session)), "{result}");
        }
    }
    let name = "live run among 1,000 sessions of 200 users of the gateway";
    let runs = runs.figure(name, setting.placement);
    let mut memory = Samples::default();
    memory.push_number(processes::resident_memory(listening.pid()));
    let name = "memory of `codeyard serve` with 1,000 sessions of 200 users";
    let memory = memory.figure_in(Unit::Bytes, name, setting.placement);
    let name = "start of `codeyard serve` until it listens";
    let starts = starts.figure(name, setting.placement).at_most(START);
    Ok(vec![starts, runs, memory])
}

/// A different number for each session.
fn number(user: usize, session: usize) -> usize {
    user * SESSIONS.len() + session
}

/// An administrator of a new gateway, by token.
pub struct Admin<'a> {
    listening: &'a Listening,
    token: String,
}

impl<'a> Admin<'a> {
    pub fn new(codeyard: &Codeyard, listening: &'a Listening) -> Result<Admin<'a>> {
        let token = admin_token(codeyard)?;
        Ok(Admin { listening, token })
    }

    /// A client of this path.
    pub fn at(&self, path: &str) -> Result<HttpClient> {
        self.listening.connect_to(ClientTarget {
            path: path.to_owned(),
            token: Some(self.token.clone()),
        })
    }

    /// Creates the virtual server, and for each user a client with a session that has run a program.
    pub fn clients(&self, users: usize) -> Result<Vec<HttpClient>> {
        self.at("/servers")?.post(&json!({
            "id": "bench",
            "name": "bench",
            "type": "code_execution",
            "surface": "code",
            "sandbox_policy": {"runtime": "python", "max_runs_per_minute": 1000},
        }))?;
        let (mut accounts, mut tokens) = (self.at("/users")?, self.at("/tokens")?);
        let mut clients = Vec::with_capacity(users);
        for user in 0..users {
            let user = json!({"user": format!("user{user}@example.com"), "role": "developer"});
            accounts.post(&user)?;
            let created: Value = serde_json::from_str(&tokens.post(&user)?)?;
            let token = created["token"].as_str().context("a token")?;
            let mut client = self.listening.connect_to(ClientTarget {
                path: "/servers/bench/mcp".to_owned(),
                token: Some(token.to_owned()),
            })?;
            client.initialize()?;
            run(&mut client)?;
            clients.push(client);
        }
        Ok(clients)
    }
}

fn admin_token(codeyard: &Codeyard) -> Result<String> {
    let arguments = [
        "token",
        "create",
        "--user",
        "admin@example.com",
        "--role",
        "platform_admin",
    ];
    let created = codeyard
        .command(arguments)?
        .into_std()
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot create a token")?;
    ensure!(created.status.success(), "cannot create a token");
    Ok(String::from_utf8(created.stdout)?.trim().to_owned())
}
