//! Load on a gateway that may be killed at any moment, and a check that it lost nothing it acknowledged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use fastrand::Rng;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::Codeyard;
use crate::gateway::{HttpConnection, HttpRequest, create_token, python_server};

/// Pause after a request that the gateway did not answer.
const PAUSE: Duration = Duration::from_millis(10);
/// Longest time until a gateway works again and has closed interrupted runs.
const SOON: Duration = Duration::from_secs(30);

const PROGRAMS: [&str; 4] = [
    "print(1)",
    "1 / 0",
    "import time\ntime.sleep(0.2)",
    "await tools.stub.add(a=1, b=2)",
];

/// Clients, each with a user, a virtual server for programs and another one to change.
pub struct GatewayLoad {
    admin: String,
    clients: Vec<LoadClient>,
    /// Acknowledged runs with their statuses.
    runs: BTreeMap<String, String>,
    /// Runs, changes, and requests without an answer.
    counts: [usize; 3],
    /// Statuses that are neither success nor 503.
    wrong: Vec<String>,
}

/// Clients that work until [`WorkingLoad::end`].
pub struct WorkingLoad {
    ending: Arc<AtomicBool>,
    /// Requests that succeeded since the work began.
    answered: Arc<AtomicUsize>,
    working: JoinSet<LoadClient>,
    load: GatewayLoad,
}

struct LoadClient {
    number: usize,
    admin: String,
    token: String,
    rng: Rng,
    made: usize,
    acknowledged: Acknowledged,
}

/// What a gateway acknowledged since the last check.
#[derive(Debug, Default)]
struct Acknowledged {
    runs: Vec<(String, String)>,
    /// The last acknowledged description of the client's own server, and the descriptions sent after it.
    description: Option<String>,
    pending: Vec<String>,
    tokens: Vec<String>,
    users: Vec<String>,
    unanswered: usize,
    changes: usize,
    wrong: Vec<String>,
}

// === impl GatewayLoad ===

impl GatewayLoad {
    /// Creates users and servers.
    ///
    /// # Errors
    /// If the gateway refuses.
    pub async fn prepare(
        codeyard: &Codeyard,
        address: &str,
        clients: usize,
        seed: u64,
    ) -> Result<GatewayLoad> {
        let mut rng = Rng::with_seed(seed);
        let admin = create_token(codeyard, "admin@example.com", "platform_admin", &[]).await?;
        let mut load = GatewayLoad {
            admin: admin.clone(),
            clients: Vec::new(),
            runs: BTreeMap::new(),
            counts: [0; 3],
            wrong: Vec::new(),
        };
        let mut connection = HttpConnection::to(address);
        for number in 0..clients {
            for name in ["programs", "changed"] {
                let mut body = python_server(&format!("{name}-{number}"));
                body["id"] = json!(format!("{name}-{number}"));
                body["surface"] = json!("code");
                succeed(&mut connection, &admin, "POST /servers", &body).await?;
            }
            let email = format!("user{number}@example.com");
            succeed(
                &mut connection,
                &admin,
                "POST /users",
                &json!({"user": email, "role": "developer"}),
            )
            .await?;
            let made = json!({"user": email, "role": "developer"});
            let made = succeed(&mut connection, &admin, "POST /tokens", &made).await?;
            load.clients.push(LoadClient {
                number,
                admin: admin.clone(),
                token: made["token"].as_str().context("a token")?.to_owned(),
                rng: rng.fork(),
                made: 0,
                acknowledged: Acknowledged::default(),
            });
        }
        Ok(load)
    }

    /// Starts the clients at these gateways.
    pub fn begin(mut self, addresses: &[String]) -> WorkingLoad {
        let ending = Arc::new(AtomicBool::new(false));
        let answered = Arc::new(AtomicUsize::new(0));
        let mut working = JoinSet::new();
        for mut client in self.clients.drain(..) {
            let (ending, addresses) = (Arc::clone(&ending), addresses.to_vec());
            let answered = Arc::clone(&answered);
            working.spawn(async move {
                client.work(&addresses, &ending, &answered).await;
                client
            });
        }
        WorkingLoad {
            ending,
            answered,
            working,
            load: self,
        }
    }

    /// Compares the gateway's data with the acknowledged requests; returns the differences.
    ///
    /// # Errors
    /// If the gateway does not answer.
    pub async fn check(&mut self, address: &str) -> Result<Vec<String>> {
        let mut wrong = std::mem::take(&mut self.wrong);
        let mut connection = HttpConnection::to(address);
        wait_until_it_works(&mut connection, &self.admin).await?;
        for client in &mut self.clients {
            let acknowledged = &mut client.acknowledged;
            self.counts[0] += acknowledged.runs.len();
            self.counts[1] += std::mem::take(&mut acknowledged.changes);
            self.counts[2] += std::mem::take(&mut acknowledged.unanswered);
            self.runs.extend(acknowledged.runs.drain(..));
            wrong.append(&mut acknowledged.wrong);
            wrong.extend(client.missing(&mut connection).await?);
        }
        let recorded = self.recorded(&mut connection).await?;
        for (run, status) in &self.runs {
            match recorded.get(run) {
                Some(found) if found == status => {}
                Some(found) => wrong.push(format!(
                    "record of {run}: {found}, but the gateway acknowledged {status}"
                )),
                None => wrong.push(format!("no record of {run}, acknowledged as {status}")),
            }
        }
        let running = recorded.iter().filter(|(_, status)| *status == "running");
        wrong.extend(running.map(|(run, _)| format!("record of {run}: still running after {SOON:?}")));
        Ok(wrong)
    }

    /// Numbers of acknowledged runs, acknowledged changes, and unanswered requests.
    pub fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// Statuses of runs by id. Waits until no run is `running`; no client works at this time.
    async fn recorded(&self, connection: &mut HttpConnection) -> Result<BTreeMap<String, String>> {
        let waiting = Instant::now();
        loop {
            let mut recorded = BTreeMap::new();
            for number in 0..self.clients.len() {
                let line = format!("GET /servers/programs-{number}/code/runs?format=jsonl");
                let answer = connection
                    .ask(&HttpRequest::new(&line, &self.admin, &Value::Null))
                    .await?;
                ensure!(answer.status == 200, "{line}: {} {}", answer.status, answer.body);
                for row in answer.body.lines() {
                    let run: Value = serde_json::from_str(row).with_context(|| row.to_owned())?;
                    let text = |field: &str| run[field].as_str().unwrap_or_default().to_owned();
                    recorded.insert(text("id"), text("status"));
                }
            }
            let is_over = recorded.values().all(|status| status != "running");
            if is_over || waiting.elapsed() > SOON {
                return Ok(recorded);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

// === impl WorkingLoad ===

impl WorkingLoad {
    /// Waits for this number of successful requests.
    pub async fn until_answered(&self, count: usize) {
        while self.answered.load(Ordering::Relaxed) < count {
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Stops the clients after their current requests.
    ///
    /// # Errors
    /// If a client panicked.
    pub async fn end(mut self) -> Result<GatewayLoad> {
        self.ending.store(true, Ordering::Relaxed);
        while let Some(client) = self.working.join_next().await {
            self.load.clients.push(client?);
        }
        self.load.clients.sort_by_key(|client| client.number);
        Ok(self.load)
    }
}

// === impl LoadClient ===

impl LoadClient {
    async fn work(&mut self, addresses: &[String], ending: &AtomicBool, answered: &AtomicUsize) {
        let mut connections: Vec<_> = addresses
            .iter()
            .map(|address| HttpConnection::to(address))
            .collect();
        while !ending.load(Ordering::Relaxed) {
            let gateway = self.rng.usize(..connections.len());
            let is_answered = match self.rng.u32(..10) {
                0 => self.create_user(&mut connections[gateway]).await,
                1 => self.create_token(&mut connections[gateway]).await,
                2 => self.describe(&mut connections[gateway]).await,
                _ => self.run(&mut connections[gateway]).await,
            };
            if is_answered {
                answered.fetch_add(1, Ordering::Relaxed);
            } else {
                self.acknowledged.unanswered += 1;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// The answer to a successful request. A killed gateway sends nothing; a gateway without a database sends 503.
    async fn ask(&mut self, connection: &mut HttpConnection, request: HttpRequest) -> Option<Value> {
        let answer = connection.ask(&request).await.ok()?;
        match answer.status {
            200..300 => answer.json().ok(),
            503 => None,
            status => {
                let wrong = format!("{} {}: {status} {}", request.line, request.body, answer.body);
                self.acknowledged.wrong.push(wrong);
                None
            }
        }
    }

    async fn run(&mut self, connection: &mut HttpConnection) -> bool {
        let code = self.rng.choice(PROGRAMS).unwrap_or_default();
        let server = format!("programs-{}", self.number);
        let params = json!({"server_id": server, "name": "execute_code", "arguments": {"code": code, "language": "python"}});
        let request = HttpRequest::rpc(&self.token, "1", "tools/call", params);
        let Some(answer) = self.ask(connection, request).await else {
            return false;
        };
        let content = &answer["result"]["structuredContent"];
        let (run, status) = (content["run_id"].as_str(), content["status"].as_str());
        let run = run
            .zip(status)
            .map(|(run, status)| (run.to_owned(), status.to_owned()));
        let is_run = run.is_some();
        self.acknowledged.runs.extend(run);
        is_run
    }

    async fn create_user(&mut self, connection: &mut HttpConnection) -> bool {
        self.made += 1;
        let email = format!("made{}-{}@example.com", self.number, self.made);
        let body = json!({"user": email, "role": "viewer"});
        let request = HttpRequest::new("POST /users", &self.admin, &body);
        let is_made = self.ask(connection, request).await.is_some();
        if is_made {
            self.acknowledged.users.push(email);
            self.acknowledged.changes += 1;
        }
        is_made
    }

    async fn create_token(&mut self, connection: &mut HttpConnection) -> bool {
        let request = HttpRequest::new("POST /tokens", &self.token, &json!({"role": "viewer"}));
        let made = self.ask(connection, request).await;
        let token = made.and_then(|made| made["token"].as_str().map(str::to_owned));
        let is_made = token.is_some();
        self.acknowledged.tokens.extend(token);
        self.acknowledged.changes += usize::from(is_made);
        is_made
    }

    async fn describe(&mut self, connection: &mut HttpConnection) -> bool {
        self.made += 1;
        let text = format!("description {}", self.made);
        let line = format!("PUT /servers/changed-{}", self.number);
        let request = HttpRequest::new(line, &self.admin, &json!({ "description": text }));
        self.acknowledged.pending.push(text.clone());
        let is_done = self.ask(connection, request).await.is_some();
        if is_done {
            self.acknowledged.description = Some(text);
            self.acknowledged.pending.clear();
            self.acknowledged.changes += 1;
        }
        is_done
    }

    /// Acknowledged changes that the gateway has lost.
    async fn missing(&mut self, connection: &mut HttpConnection) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        for token in std::mem::take(&mut self.acknowledged.tokens) {
            let request = HttpRequest::new("GET /tokens", &token, &Value::Null);
            let status = connection.ask(&request).await?.status;
            if status != 200 {
                wrong.push(format!("lost token of client {}: {status}", self.number));
            }
        }
        for email in std::mem::take(&mut self.acknowledged.users) {
            let request = HttpRequest::new(format!("GET /users/{email}"), &self.admin, &Value::Null);
            let status = connection.ask(&request).await?.status;
            if status != 200 {
                wrong.push(format!("lost user {email}: {status}"));
            }
        }
        let line = format!("GET /servers/changed-{}", self.number);
        let read = connection
            .ask(&HttpRequest::new(line, &self.admin, &Value::Null))
            .await?
            .json()?;
        let found = read["description"].as_str();
        let (last, pending) = (&self.acknowledged.description, &self.acknowledged.pending);
        let is_pending = pending.iter().any(|pending| found == Some(pending));
        if last.is_some() && found != last.as_deref() && !is_pending {
            wrong.push(format!(
                "server of client {}: {found:?} instead of {last:?}",
                self.number
            ));
        }
        Ok(wrong)
    }
}

/// Waits until a gateway runs a program.
async fn wait_until_it_works(connection: &mut HttpConnection, token: &str) -> Result<()> {
    let params = json!({"server_id": "programs-0", "name": "execute_code", "arguments": {"code": "print(1)", "language": "python"}});
    let request = HttpRequest::rpc(token, "1", "tools/call", params);
    let waiting = Instant::now();
    loop {
        let answer = connection.ask(&request).await;
        let last = match answer {
            Ok(answer) if answer.body.contains("\"completed\"") => return Ok(()),
            Ok(answer) => format!("{} {}", answer.status, answer.body),
            Err(error) => format!("{error:#}"),
        };
        ensure!(
            waiting.elapsed() < SOON,
            "the gateway runs no program after {SOON:?}: {last}"
        );
        tokio::time::sleep(PAUSE).await;
    }
}

async fn succeed(connection: &mut HttpConnection, token: &str, line: &str, body: &Value) -> Result<Value> {
    let answer = connection.ask(&HttpRequest::new(line, token, body)).await?;
    ensure!(answer.status < 300, "{line}: {} {}", answer.status, answer.body);
    answer.json()
}
