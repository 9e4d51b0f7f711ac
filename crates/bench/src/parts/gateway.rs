//! The cost of the gateway: runs over `codeyard serve`, with token, policy and record, against those over stdio.

use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use test_support::Codeyard;

use super::clients::{execute, open};
use super::http::run;
use crate::figures::{Figure, Samples};
use crate::http_client::{Door, HttpClient, Listening};
use crate::setting::Setting;

/// How much longer a run may take over the gateway, in microseconds.
const MOST: f64 = 200.0;
const RUNS: u32 = 50;
/// Users who take turns, because each may run 1,000 programs in a minute.
const USERS: usize = 8;

pub async fn beside_stdio(setting: &Setting) -> Result<Vec<Figure>> {
    let codeyard = Codeyard::new()?;
    setting.lend_environment(&codeyard)?;
    setting.placement.for_children()?;
    let mut stdio = open(&codeyard)?;
    let listening = Listening::start(&codeyard, "serve")?;
    setting.placement.for_host()?;
    let mut clients = clients(&codeyard, &listening)?;
    let nothing = json!({"code": "1 + 1"});
    execute(&mut stdio, &nothing)?;
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

/// A client of each user, with a session that has run a program.
fn clients(codeyard: &Codeyard, listening: &Listening) -> Result<Vec<HttpClient>> {
    let admin = token(codeyard, "admin@example.com", "platform_admin")?;
    let mut rest = listening.connect_to(Door {
        path: "/servers".to_owned(),
        token: Some(admin),
    })?;
    rest.post(&json!({
        "id": "bench",
        "name": "bench",
        "type": "code_execution",
        "surface": "code",
        "sandbox_policy": {"runtime": "python", "max_runs_per_minute": 1000},
    }))?;
    let mut clients = Vec::with_capacity(USERS);
    for user in 0..USERS {
        let mut client = listening.connect_to(Door {
            path: "/servers/bench/mcp".to_owned(),
            token: Some(token(codeyard, &format!("user{user}@example.com"), "developer")?),
        })?;
        client.initialize()?;
        run(&mut client)?;
        clients.push(client);
    }
    Ok(clients)
}

fn token(codeyard: &Codeyard, user: &str, role: &str) -> Result<String> {
    let created = codeyard
        .command(["token", "create", "--user", user, "--role", role])?
        .into_std()
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot create a token")?;
    ensure!(created.status.success(), "cannot create a token");
    Ok(String::from_utf8(created.stdout)?.trim().to_owned())
}
