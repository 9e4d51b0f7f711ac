//! A running gateway, and requests of its users.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use test_support::{Codeyard, CommandOutput, MetaToolResult, MetaTools, ServerDefinition, run};
use tokio::sync::Mutex;

use super::actors::{ADMIN, ANA, Actor, BOB};
use crate::http::served::{self, PATIENCE, Response, Stream};

/// A `codeyard serve` process; dropping the value checks that the process ends with success.
pub struct Gateway {
    pub codeyard: Codeyard,
    pub address: String,
    child: Child,
    /// The lines of the gateway's log.
    log: Arc<std::sync::Mutex<Vec<String>>>,
    /// Tokens by address and teams.
    tokens: Mutex<BTreeMap<(&'static str, &'static [&'static str]), String>>,
    names: AtomicU32,
}

/// A virtual server as one user reaches it over `/rpc`.
pub struct OverRpc<'g> {
    pub gateway: &'g Gateway,
    pub actor: &'g Actor,
    pub server: String,
}

/// Polls until there is an answer; panics after 30 s.
pub async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "waited until {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The server `stub` with its tag.
pub fn stub() -> ServerDefinition {
    let mut stub = ServerDefinition::stub();
    stub.fields.insert("tags".to_owned(), json!(["analytics"]));
    stub
}

/// An installation that serves programs, with `stub`.
pub fn installation() -> Codeyard {
    let codeyard = Codeyard::new().unwrap().server("stub", &stub());
    codeyard.env("CODE_EXECUTION_ENABLED", "true")
}

/// The body of a server of the kind `code_execution` that runs Python, with further members.
pub fn code(name: &str, more: &Value) -> Value {
    let mut body = json!({"name": name, "type": "code_execution", "sandbox_policy": {"runtime": "python"}});
    for (member, value) in more.as_object().unwrap() {
        match (body.get_mut(member), value) {
            (Some(Value::Object(policy)), Value::Object(more)) => policy.extend(more.clone()),
            _ => body[member] = value.clone(),
        }
    }
    body
}

// === impl Gateway ===

impl Gateway {
    /// Starts [`installation`].
    pub async fn with_stub() -> Gateway {
        Gateway::start(installation()).await
    }

    /// Starts the gateway of an installation.
    pub async fn start(codeyard: Codeyard) -> Gateway {
        Gateway::start_with(codeyard, &["--listen", "127.0.0.1:0"]).await
    }

    /// Starts the gateway with further options.
    #[expect(clippy::print_stderr, reason = "a failed test shows the gateway's log")]
    pub async fn start_with(codeyard: Codeyard, options: &[&str]) -> Gateway {
        let command = codeyard.command(["serve"].iter().chain(options)).unwrap();
        let mut command = command.into_std();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (found, addresses) = mpsc::sync_channel(1);
        let log = Arc::<std::sync::Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                heard.lock().unwrap().push(line.clone());
                let said = line
                    .split_once("serving at http")
                    .and_then(|(_, rest)| rest.split_once("://")?.1.split_once(';'));
                match said {
                    Some((address, _)) => drop(found.send(address.to_owned())),
                    None => eprintln!("gateway: {line}"),
                }
            }
        });
        let address = addresses
            .recv_timeout(PATIENCE)
            .expect("the gateway logs its address");
        Gateway {
            codeyard,
            address,
            child,
            log,
            tokens: Mutex::default(),
            names: AtomicU32::new(0),
        }
    }

    /// Runs a command on the gateway's data.
    pub async fn command(&self, words: &[&str]) -> CommandOutput {
        run(&self.codeyard, words, "").await
    }

    /// A user's token; creates the user on first use.
    pub async fn token(&self, actor: &Actor) -> String {
        let mut tokens = self.tokens.lock().await;
        if let Some(token) = tokens.get(&(actor.email, actor.teams)) {
            return token.clone();
        }
        let token = self.new_token(actor, &[]).await;
        tokens.insert((actor.email, actor.teams), token.clone());
        token
    }

    /// Another token of a user.
    pub async fn new_token(&self, actor: &Actor, options: &[&str]) -> String {
        let mut words = vec!["token", "create", "--user", actor.email, "--role", actor.role];
        words.extend(actor.teams.iter().flat_map(|team| ["--team", *team]));
        words.extend(options);
        let made = self.command(&words).await;
        assert_eq!(made.code, 0, "{made:?}");
        made.out.trim().to_owned()
    }

    /// Sends a request such as `GET /servers`; returns the whole response.
    pub async fn rest(&self, actor: &Actor, request: &str, body: Value) -> Response {
        let token = self.token(actor).await;
        self.rest_with(Some(&token), request, &body_bytes(&body)).await
    }

    /// Sends a request with any token and any bytes.
    pub async fn rest_with(&self, token: Option<&str>, request: &str, body: &[u8]) -> Response {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        let place = request.split_once(' ').unwrap();
        served::send(&self.address, place, &headers, body)
            .await
            .whole()
            .await
    }

    /// Begins a request with further headers.
    pub async fn begin(
        &self,
        actor: &Actor,
        request: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Stream {
        let bearer = format!("Bearer {}", self.token(actor).await);
        let mut all = vec![
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        all.extend(headers);
        let place = request.split_once(' ').unwrap();
        served::send(&self.address, place, &all, &body_bytes(body)).await
    }

    /// Sends a request that must have this status; returns the answer's JSON.
    #[track_caller]
    pub fn ask<'a>(
        &'a self,
        actor: &'a Actor,
        request: &'a str,
        body: Value,
        status: u16,
    ) -> impl Future<Output = Value> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.rest(actor, request, body).await;
            assert_eq!(
                answer.status,
                status,
                "{caller}: {request} {}: {}",
                actor.email,
                answer.text()
            );
            answer.json()
        }
    }

    /// Gets a path.
    #[track_caller]
    pub fn get<'a>(&'a self, actor: &'a Actor, path: &str) -> impl Future<Output = Value> + use<'a> {
        let caller = std::panic::Location::caller();
        let request = format!("GET {path}");
        async move {
            let answer = self.rest(actor, &request, Value::Null).await;
            assert_eq!(
                answer.status,
                200,
                "{caller}: {request} {}: {}",
                actor.email,
                answer.text()
            );
            answer.json()
        }
    }

    /// Sends a request that must be refused with this status and a text that contains this.
    #[track_caller]
    pub fn check_refused<'a>(
        &'a self,
        actor: &'a Actor,
        request: &'a str,
        body: Value,
        (status, text): (u16, &'a str),
    ) -> impl Future<Output = ()> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.rest(actor, request, body.clone()).await;
            let is_as_expected = answer.status == status && answer.text().contains(text);
            assert!(
                is_as_expected,
                "{caller}: {request} {body} {}: {} {}",
                actor.email,
                answer.status,
                answer.text()
            );
        }
    }

    /// Creates a virtual server; returns its id.
    #[track_caller]
    pub fn make<'a>(&'a self, actor: &'a Actor, body: Value) -> impl Future<Output = String> + 'a {
        let made = self.ask(actor, "POST /servers", body, 201);
        async move { made.await["id"].as_str().unwrap().to_owned() }
    }

    /// CS-A: created by ANA, for team-a, with further members.
    pub async fn cs_a(&self, more: &Value) -> String {
        let mut body = code(&self.name("cs-a"), more);
        body["team_id"] = json!("team-a");
        self.make(&ANA, body).await
    }

    /// CS-B: created by BOB, for team-b.
    pub async fn cs_b(&self) -> String {
        self.make(&BOB, code(&self.name("cs-b"), &json!({"team_id": "team-b"})))
            .await
    }

    /// CS-P: public, without a team.
    pub async fn cs_p(&self) -> String {
        self.make(&ADMIN, code(&self.name("cs-p"), &json!({}))).await
    }

    /// A unique server name.
    pub fn name(&self, begin: &str) -> String {
        format!("{begin}-{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    /// Sends a request to `/rpc`; returns the response's JSON.
    pub async fn rpc(&self, actor: &Actor, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.rest(actor, "POST /rpc", body).await.json()
    }

    /// Calls a tool over `/rpc`; returns the result.
    #[track_caller]
    pub fn call<'a>(
        &'a self,
        actor: &'a Actor,
        server: &str,
        tool: &str,
        arguments: Value,
    ) -> impl Future<Output = MetaToolResult> + use<'a> {
        let caller = std::panic::Location::caller();
        let params = json!({"server_id": server, "name": tool, "arguments": arguments});
        async move {
            let mut answer = self.rpc(actor, "tools/call", params).await;
            let result = answer["result"].take();
            assert!(result.is_object(), "{caller}: {}: {answer}", actor.email);
            MetaToolResult(result)
        }
    }

    /// The function SH of the acceptance cases.
    #[track_caller]
    pub fn sh<'a>(
        &'a self,
        actor: &'a Actor,
        server: &str,
        code: &str,
    ) -> impl Future<Output = MetaToolResult> + use<'a> {
        self.call(
            actor,
            server,
            "shell_exec",
            json!({"code": code, "language": "python"}),
        )
    }

    /// A program that must succeed with exactly this output.
    #[track_caller]
    pub fn check<'a>(
        &'a self,
        (actor, server): (&'a Actor, &'a str),
        code: &'a str,
        output: &'a str,
    ) -> impl Future<Output = MetaToolResult> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let ran = self.sh(actor, server, code).await;
            let found = (ran.output(), ran.error(), ran.is_error());
            assert_eq!(found, (output, "", false), "{caller}: {code}");
            ran
        }
    }

    /// A program that must fail with an error that contains this.
    #[track_caller]
    pub fn check_error<'a>(
        &'a self,
        (actor, server): (&'a Actor, &'a str),
        code: &'a str,
        error: &'a str,
    ) -> impl Future<Output = MetaToolResult> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let ran = self.sh(actor, server, code).await;
            assert!(
                ran.is_error() && ran.error().contains(error),
                "{caller}: {code}\n{ran:?}"
            );
            ran
        }
    }

    /// Waits for a log line that contains this.
    pub fn logged(&self, part: &str) -> Option<String> {
        let log = self.log.lock().unwrap();
        log.iter().find(|line| line.contains(part)).cloned()
    }

    /// How many lines of its log contain this.
    pub fn count_logged(&self, part: &str) -> usize {
        let log = self.log.lock().unwrap();
        log.iter().filter(|line| line.contains(part)).count()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the gateway and restarts it on the same data.
    pub async fn restart(self) -> Gateway {
        self.restart_as(|codeyard| codeyard).await
    }

    /// Restarts the gateway with another variable.
    pub async fn restart_with(self, name: &str, value: &str) -> Gateway {
        self.restart_as(|codeyard| codeyard.env(name, value)).await
    }

    async fn restart_as(mut self, change: impl FnOnce(Codeyard) -> Codeyard) -> Gateway {
        self.end();
        let codeyard = std::mem::replace(&mut self.codeyard, Codeyard::new().unwrap());
        let tokens = std::mem::take(self.tokens.get_mut());
        drop(self);
        let mut started = Gateway::start(change(codeyard)).await;
        *started.tokens.get_mut() = tokens;
        started
    }

    /// Sends a signal to the gateway.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Kills the gateway with SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the gateway with a signal, once.
    fn end(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
            return;
        }
        self.signal(Signal::TERM);
        let status = self.child.wait().unwrap();
        assert!(
            status.success() || std::thread::panicking(),
            "the gateway ended with {status}"
        );
    }
}

// === impl OverRpc ===

impl MetaTools for OverRpc<'_> {
    fn call<'a>(&'a mut self, tool: &'a str, arguments: Value) -> impl Future<Output = MetaToolResult> + 'a {
        self.gateway.call(self.actor, &self.server, tool, arguments)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.end();
    }
}

fn body_bytes(body: &Value) -> Vec<u8> {
    match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    }
}
