//! Programs and files in a member's sessions, over every entry.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::actor::Actor;
use super::marker::Sharing;
use super::world::{Member, MemberRole, ModelServer};
use crate::gateway::{HttpAnswer, HttpRequest};

/// Programs that search for data of others.
const SEARCHES: [&str; 8] = [
    "print({name: value for name, value in globals().items() if isinstance(value, str)})",
    "import os\nprint(dict(os.environ))",
    "import os\nfor top in ('/scratch', '/results', '/workspace', '/tmp', '/tools'):\n    for place, _, files in os.walk(top):\n        print(place, files)\n        for file in files[:20]:\n            print(open(os.path.join(place, file), errors='replace').read(200))",
    "from mcp import runtime\nprint(sorted(runtime.discovered_servers()))",
    "from mcp import runtime\nprint(runtime.search('add numbers mk'))",
    "import os\nfor entry in os.listdir('/proc'):\n    if entry.isdigit():\n        try:\n            print(open(f'/proc/{entry}/cmdline').read(), open(f'/proc/{entry}/environ').read())\n        except OSError:\n            pass",
    "import os\nfor place, _, files in os.walk('/dev/shm'):\n    print(place, files)\nprint(open('/proc/self/mountinfo').read())",
    "print((await tools.stub.add({'a': 2, 'b': 3}))['sum'])",
];

/// The entry by which a program reaches the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryWay {
    Rpc,
    Modern,
    Session,
    Sse,
}

impl Actor {
    /// Runs a program that sets, reads or searches a secret.
    pub(super) async fn run_program(&mut self, played: usize) -> Result<()> {
        let member = self.member(played);
        let Some((number, server)) = self
            .world
            .server(&mut self.rng, |server| server.is_seen_by(&member))
        else {
            return Ok(());
        };
        if member.role == MemberRole::Viewer {
            let request = HttpRequest::rpc(&member.token, "1", "tools/call", call(&server.id, "print(1)"));
            let answer = self.ask(&member, request).await?;
            self.expect("a program of a viewer", &answer, 403);
            return Ok(());
        }
        let word = member.plant(Sharing::Owner, &mut self.rng);
        let choice = self.rng.u32(..10);
        let code = match choice {
            0..=2 => format!("secret = '{word}'"),
            3 | 4 => format!("open('/scratch/secret', 'w').write('{word}')\nprint(len('{word}'))"),
            5 | 6 => "print(globals().get('secret', 'unset'))".to_owned(),
            7 | 8 => "import os\nprint(open('/scratch/secret').read() if os.path.exists('/scratch/secret') else 'unset')".to_owned(),
            _ => self.rng.choice(SEARCHES).unwrap_or_default().to_owned(),
        };
        let ran = self.run(played, number, &server, &code).await?;
        if !self.world.is_unchanged(number, &server) {
            // The change may have ended the session before or after the run.
            self.played[played].1.variables.remove(&number);
            if choice == 3 || choice == 4 {
                self.played[played].1.files.remove(&number);
            }
            return Ok(());
        }
        let memory = &mut self.played[played].1;
        let expected = match choice {
            0..=2 => {
                memory.variables.insert(number, (word, server.version));
                None
            }
            3 | 4 => {
                memory.files.insert(number, word);
                None
            }
            5 | 6 => {
                let set = memory.variables.get(&number);
                set.filter(|(_, version)| *version == server.version)
                    .map(|(word, _)| word.clone())
            }
            7 | 8 => memory.files.get(&number).cloned(),
            // A search may fail at an unreadable object.
            _ => return Ok(()),
        };
        self.check_output(&ran, &code, expected);
        Ok(())
    }

    fn check_output(&mut self, ran: &Value, code: &str, expected: Option<String>) {
        let output = ran["output"].as_str().map(str::trim);
        let Some(output) = output.filter(|_| ran["error"].is_null()) else {
            let is_limited = ran.to_string().contains("Rate limit");
            if !is_limited {
                self.tally.complain(format!("a program failed: {code}\n{ran}"));
            }
            return;
        };
        match expected {
            Some(expected) if output == expected => self.tally.read_back += 1,
            Some(expected) => {
                let wrong = format!("{code}: {output} instead of {expected}");
                self.tally.complain(wrong);
            }
            None => {}
        }
    }

    /// Runs a program over a random entry; returns the structured content.
    async fn run(&mut self, played: usize, number: usize, server: &ModelServer, code: &str) -> Result<Value> {
        let member = self.member(played);
        let ways = [
            EntryWay::Rpc,
            EntryWay::Rpc,
            EntryWay::Rpc,
            EntryWay::Modern,
            EntryWay::Modern,
            EntryWay::Session,
            EntryWay::Session,
            EntryWay::Sse,
        ];
        let way = self.rng.choice(ways).unwrap_or(EntryWay::Rpc);
        let arguments = json!({"code": code, "language": "python"});
        let id = self.call_id(&member);
        let answer = match way {
            EntryWay::Rpc => {
                let request = HttpRequest::rpc(&member.token, &id, "tools/call", call(&server.id, code));
                self.ask(&member, request).await?
            }
            EntryWay::Modern => {
                let request = HttpRequest::modern_call(&server.id, &member.token, "shell_exec", &arguments);
                self.ask(&member, request).await?
            }
            EntryWay::Session => {
                let Some(session) = self.mcp_session(played, number, server).await? else {
                    return Ok(Value::Null);
                };
                let message = tool_call(&id, &arguments);
                let request = HttpRequest::mcp(&server.id, &member.token, Some(&session), &message);
                self.ask(&member, request).await?
            }
            EntryWay::Sse => return self.run_over_sse(&member, server, &id, &arguments).await,
        };
        Ok(result_of(&answer))
    }

    /// The member's MCP session at a server, opened on first use and after a change.
    async fn mcp_session(
        &mut self,
        played: usize,
        number: usize,
        server: &ModelServer,
    ) -> Result<Option<String>> {
        let member = self.member(played);
        if let Some((session, version)) = self.played[played].1.mcp_sessions.get(&number)
            && *version == server.version
        {
            return Ok(Some(session.clone()));
        }
        let opening = HttpRequest::mcp(&server.id, &member.token, None, &initialize());
        let opened = self.ask(&member, opening).await?;
        let Some(session) = opened.header("mcp-session-id").map(str::to_owned) else {
            return Ok(None);
        };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let request = HttpRequest::mcp(&server.id, &member.token, Some(&session), &initialized);
        self.ask(&member, request).await?;
        let entry = (session.clone(), server.version);
        self.played[played].1.mcp_sessions.insert(number, entry);
        let known = (member.reader, server.id.clone(), session.clone());
        self.world.state().mcp_sessions.push(known);
        Ok(Some(session))
    }

    /// The transport of 2024-11-05: answers come as events of a stream.
    async fn run_over_sse(
        &mut self,
        member: &Member,
        server: &ModelServer,
        id: &str,
        arguments: &Value,
    ) -> Result<Value> {
        let mut stream = self.connect();
        let opening = HttpRequest::new(
            format!("GET /servers/{}/sse", server.id),
            &member.token,
            &Value::Null,
        );
        let opening = opening.header("accept", "text/event-stream");
        if stream.begin(&opening).await?.status != 200 {
            return Ok(Value::Null);
        }
        let place = format!("POST {}", stream.event().await?);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        for message in [initialize(), initialized, tool_call(id, arguments)] {
            let request = HttpRequest::new(place.clone(), &member.token, &message);
            let taken = self.ask(member, request.clone()).await?;
            if taken.status != 202 {
                return Ok(Value::Null);
            }
            if message["id"].is_null() {
                continue;
            }
            loop {
                let body = stream.event().await.context("an answer over /sse")?;
                let event = HttpAnswer {
                    status: 200,
                    headers: Vec::new(),
                    body,
                };
                self.judge(member, &request, &event);
                let answered = event.json()?;
                if answered["id"] == message["id"] {
                    if answered["id"] == id {
                        return Ok(event.structured());
                    }
                    break;
                }
            }
        }
        Ok(Value::Null)
    }

    /// Runs a program whose call other members try to cancel; the program must complete.
    pub(super) async fn run_long(&mut self, played: usize) -> Result<()> {
        let member = self.member(played);
        let Some((number, server)) = self
            .world
            .server(&mut self.rng, |server| server.is_seen_by(&member))
        else {
            return Ok(());
        };
        if member.role == MemberRole::Viewer {
            return Ok(());
        }
        let id = self.call_id(&member);
        self.world.state().calls.push((member.reader, id.clone()));
        let word = member.plant(Sharing::Owner, &mut self.rng);
        let code = format!("import time\ntime.sleep(0.15)\nprint('{word}')");
        let request = HttpRequest::rpc(&member.token, &id, "tools/call", call(&server.id, &code));
        let answer = self.ask(&member, request).await;
        self.world.state().calls.retain(|(_, running)| *running != id);
        let answer = answer?;
        if self.world.is_unchanged(number, &server) {
            self.check_output(&result_of(&answer), &code, Some(word));
        }
        Ok(())
    }

    /// Uses the tools for files with the member's own paths and with foreign paths.
    pub(super) async fn use_files(&mut self, played: usize) -> Result<()> {
        let member = self.member(played);
        let Some((number, server)) = self
            .world
            .server(&mut self.rng, |server| server.is_seen_by(&member))
        else {
            return Ok(());
        };
        let own = member.plant(Sharing::Owner, &mut self.rng);
        let other = self.world.stranger(member.reader, &mut self.rng);
        let other = other.map_or("x", |other| other.email.as_str());
        let (tool, arguments) = match self.rng.u32(..6) {
            0 => ("fs_write", json!({"path": "/scratch/note", "content": own})),
            1 => ("fs_read", json!({"path": "/scratch/note"})),
            2 => ("fs_browse", json!({"path": "/scratch"})),
            3 => ("fs_browse", json!({"path": "/tools"})),
            4 => (
                "fs_read",
                json!({"path": format!("/scratch/../../{other}/scratch/secret")}),
            ),
            _ => ("fs_read", json!({"path": "/scratch/secret"})),
        };
        let asks_secret = arguments["path"] == "/scratch/secret";
        let params = json!({"server_id": server.id, "name": tool, "arguments": arguments});
        let answer = self
            .ask(
                &member,
                HttpRequest::rpc(&member.token, "1", "tools/call", params),
            )
            .await?;
        let expected = self.played[played].1.files.get(&number).cloned();
        if let Some(expected) = expected
            && asks_secret
            && self.world.is_unchanged(number, &server)
        {
            match answer.body.contains(&expected) {
                true => self.tally.read_back += 1,
                false => self
                    .tally
                    .complain(format!("fs_read lost {expected}: {}", answer.body)),
            }
        }
        Ok(())
    }

    pub(super) fn member(&self, played: usize) -> Member {
        self.world.members[self.played[played].0].clone()
    }
}

/// The structured content of a result, or the whole answer where there is none.
fn result_of(answer: &HttpAnswer) -> Value {
    match answer.structured() {
        Value::Null => Value::String(format!("{} {}", answer.status, answer.body)),
        content => content,
    }
}

/// The parameters of `shell_exec` over `/rpc`.
pub(super) fn call(server: &str, code: &str) -> Value {
    json!({"server_id": server, "name": "shell_exec", "arguments": {"code": code, "language": "python"}})
}

fn tool_call(id: &str, arguments: &Value) -> Value {
    let params = json!({"name": "shell_exec", "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

pub(super) fn initialize() -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": params})
}
