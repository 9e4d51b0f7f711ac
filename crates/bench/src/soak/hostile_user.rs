//! 49 users of a gateway beside one hostile user: the growth of their slowest runs.

mod attacks;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use serde_json::{Value, json};
use test_support::gateway::{GatewayProcess, HttpConnection, HttpRequest, create_token, python_server};
use test_support::{Codeyard, ServerDefinition};
use tokio::task::{JoinSet, spawn_blocking};

use super::scale::Scale;
use super::watch::{Verdict, Watch, by_kind};
use crate::figures::{Figure, Samples, Unit};
use crate::placement::Placement;
use attacks::{Attack, AttackKind, Target};

const ORDINARY: usize = 49;
/// Longest pause of a user between two runs, in milliseconds.
const THINKING: u64 = 1_000;
/// Length of one round, with or without the hostile user.
const ROUND: Duration = Duration::from_secs(8);
const ROUND_SHORT: Duration = Duration::from_secs(3);
/// Rounds with the hostile user, and rounds without.
const ROUNDS: u32 = 2;
/// Time for the attack to take effect, and for the gateway to recover.
const SETTLE: Duration = Duration::from_secs(2);
/// The p99 of the other users may grow by this factor.
const MOST: f64 = 1.5;
const TEAM: &str = "hostile";
const SETTINGS: &str = "[gateway]\ncommand_upstreams = true\n";
/// Upstream servers of the hostile user's team, by their modes.
const UPSTREAMS: [&str; 4] = ["crowd", "endless-progress", "deaf", "huge"];

struct User {
    connection: HttpConnection,
    token: String,
    rng: Rng,
    failed: Vec<String>,
}

/// Compares the users' runs during each attack with those before it.
pub async fn hostile_user(scale: Scale, rng: &mut Rng) -> Result<Verdict> {
    let codeyard = Arc::new(Codeyard::with_stub()?.settings(SETTINGS));
    let mut watch = Watch::begin(format!("{ORDINARY} users beside one hostile user"), 0, Vec::new());
    let gateway = {
        let codeyard = Arc::clone(&codeyard);
        spawn_blocking(move || GatewayProcess::start(&codeyard)).await??
    };
    watch.gather(gateway.pid());
    let admin = create_token(&codeyard, "admin@example.com", "platform_admin", &[]).await?;
    let target = prepare(&gateway, &admin).await?;
    let mut users = users(&gateway, &admin, rng).await?;
    let round = if scale.runs < Scale::WHOLE.runs {
        ROUND_SHORT
    } else {
        ROUND
    };
    // Opens sessions and connections before the measurement.
    users = sample(users, round, &mut Samples::default()).await?;
    for kind in AttackKind::ALL {
        let (mut alone, mut beside) = (Samples::default(), Samples::default());
        for _ in 0..ROUNDS {
            users = sample(users, round, &mut alone).await?;
            let attack = Attack::start(&kind.alone(), &target)?;
            tokio::time::sleep(SETTLE).await;
            users = sample(users, round, &mut beside).await?;
            attack.end()?;
            tokio::time::sleep(SETTLE).await;
        }
        judge(&mut watch, kind.name(), alone, beside);
        let failed = users.iter_mut().flat_map(|user| user.failed.drain(..));
        let failed = by_kind(failed.collect()).into_iter();
        watch.complain(failed.map(|failed| format!("{}: {failed}", kind.name())));
    }
    watch.gather(gateway.pid());
    spawn_blocking(move || gateway.finish()).await??;
    Ok(watch.end().await)
}

fn judge(watch: &mut Watch, name: &str, alone: Samples, beside: Samples) {
    let alone = alone.figure("alone", Placement::Free);
    let beside = beside.figure_over(name, &alone).tail_at_most_times(&alone, MOST);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    let show = |figure: &Figure| {
        format!(
            "{} / {}",
            Unit::Micros.show(figure.p50),
            Unit::Micros.show(figure.p99)
        )
    };
    let ratio = beside.ratio.unwrap_or_default();
    watch.state(
        &format!("{name}: p50 / p99 alone, beside"),
        format!(
            "{}, {} of {} and {} runs: {ratio:.2} x; load {load}",
            show(&alone),
            show(&beside),
            alone.samples,
            beside.samples
        ),
    );
    if !beside.is_met() {
        watch.complain([format!("{name}: the p99 of the other users is {ratio:.2} x")]);
    }
}

/// The hostile user's token, server and upstream servers.
async fn prepare(gateway: &GatewayProcess, admin: &str) -> Result<Target> {
    let mut connection = HttpConnection::to(gateway.address());
    let mut ask = async |line: &str, body: &Value| -> Result<Value> {
        let answer = connection.ask(&HttpRequest::new(line, admin, body)).await?;
        ensure!(answer.status < 300, "{line}: {} {}", answer.status, answer.body);
        answer.json()
    };
    ask("POST /teams", &json!({"id": TEAM, "name": TEAM})).await?;
    for (id, team) in [("ordinary", None), ("hostile", Some(TEAM))] {
        let mut body = python_server(id);
        body["id"] = json!(id);
        body["surface"] = json!("code");
        if let Some(team) = team {
            body["team_id"] = json!(team);
        }
        ask("POST /servers", &body).await?;
    }
    for mode in UPSTREAMS {
        let mut body = ServerDefinition::hostile(mode).to_json();
        body["name"] = json!(format!("hostile-{mode}"));
        body["team_id"] = json!(TEAM);
        body["visibility"] = json!("team");
        ask("POST /upstreams", &body).await?;
    }
    ask(
        "POST /users",
        &json!({"user": "hostile@example.com", "role": "developer"}),
    )
    .await?;
    ask(
        "PUT /teams/hostile/members/hostile@example.com",
        &json!({"role": "developer"}),
    )
    .await?;
    let token = json!({"user": "hostile@example.com", "role": "developer", "teams": [TEAM]});
    let token = ask("POST /tokens", &token).await?;
    Ok(Target {
        address: gateway.address().to_owned(),
        token: token["token"].as_str().context("a token")?.to_owned(),
    })
}

async fn users(gateway: &GatewayProcess, admin: &str, rng: &mut Rng) -> Result<Vec<User>> {
    let mut users = Vec::with_capacity(ORDINARY);
    for number in 0..ORDINARY {
        let mut connection = HttpConnection::to(gateway.address());
        let email = format!("user{number}@example.com");
        let user = json!({"user": email, "role": "developer"});
        connection
            .ask(&HttpRequest::new("POST /users", admin, &user))
            .await?;
        let made = connection
            .ask(&HttpRequest::new("POST /tokens", admin, &user))
            .await?
            .json()?;
        users.push(User {
            connection,
            token: made["token"].as_str().context("a token")?.to_owned(),
            rng: rng.fork(),
            failed: Vec::new(),
        });
    }
    Ok(users)
}

/// All users run programs for this time, with pauses.
async fn sample(users: Vec<User>, round: Duration, samples: &mut Samples) -> Result<Vec<User>> {
    let until = Instant::now() + round;
    let mut working = JoinSet::new();
    for mut user in users {
        working.spawn(async move {
            let mut times = Vec::new();
            user.think().await;
            while Instant::now() < until {
                times.push(user.run().await);
                user.think().await;
            }
            (user, times)
        });
    }
    let mut users = Vec::with_capacity(ORDINARY);
    while let Some(done) = working.join_next().await {
        let (user, times) = done?;
        times.into_iter().for_each(|time| samples.push(time));
        users.push(user);
    }
    Ok(users)
}

// === impl User ===

impl User {
    async fn think(&mut self) {
        let pause = Duration::from_millis(self.rng.u64(..THINKING));
        tokio::time::sleep(pause).await;
    }

    /// The time of a run; a failed run counts with its time and is printed.
    async fn run(&mut self) -> Duration {
        let arguments = json!({"code": "sum(range(100))", "language": "python"});
        let params = json!({"server_id": "ordinary", "name": "execute_code", "arguments": arguments});
        let request = HttpRequest::rpc(&self.token, "1", "tools/call", params);
        let started = Instant::now();
        let answer = self.connection.ask(&request).await;
        let took = started.elapsed();
        match answer {
            Ok(answer) if answer.body.contains("\"completed\"") => {}
            Ok(answer) => self
                .failed
                .push(format!("failed run: {} {}", answer.status, answer.body)),
            Err(error) => self.failed.push(format!("failed run: {error:#}")),
        }
        took
    }
}
