//! The table of all servers: definitions, cached tools, and the state in each running codeyard.

use accounting::Tokenizer;
use environment::Machine;
use registry::{Definition, DefinitionStatus};
use serde_json::{Value, json};
use server::Host;
use server::control::{self, Activity, ProcessReply, ServerReport, Status};
use server::servers::Offer;
use settings::Loaded;
use upstream_wire::{Era, Transport, oauth};

use crate::commands::{login, ps};
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::output::{OutputFormat, table};

/// Most characters of an error in the table.
const SHORT: usize = 60;

#[derive(Debug, Default)]
pub(super) struct ServerRow {
    pub(super) name: String,
    pub(super) transport: Option<String>,
    /// `None` if the server is not in this configuration.
    status: Option<DefinitionStatus>,
    pub(super) file: Option<String>,
    pub(super) era: Option<Era>,
    /// The most active state in any codeyard; `None` if none knows the server.
    activity: Option<Activity>,
    login: Option<String>,
    pub(super) tools: Option<usize>,
    pub(super) tokens: Option<u64>,
    pub(super) calls: u64,
    /// Process ids of the codeyards that run it.
    running_in: Vec<u32>,
    /// Process ids of the server itself, below those codeyards.
    processes: Vec<u32>,
    pub(super) last_error: Option<String>,
}

/// Read without starting a server.
pub(super) struct ServerTable {
    pub(super) rows: Vec<ServerRow>,
    /// Each server's last listed tools.
    pub(super) offers: Vec<Offer>,
    pub(super) mistakes: environment::Mistakes,
    statuses: Vec<ProcessReply<Status>>,
    running: Vec<ProcessReply<Vec<ServerReport>>>,
}

pub(super) async fn run(context: &Context, format: OutputFormat) -> anyhow::Result<Exit> {
    let ServerTable {
        rows,
        mistakes,
        statuses,
        running,
        ..
    } = load_table(context).await?;
    let output = &context.output;
    if format == OutputFormat::Json {
        output.json(&json!({
            "servers": rows.iter().map(ServerRow::json).collect::<Vec<_>>(),
            "mistakes": mistakes.0.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }))?;
    } else if rows.is_empty() && mistakes.0.is_empty() {
        output.tell("no server is configured; `codeyard servers add` adds one");
    } else {
        output.print(&table_text(&rows))?;
    }
    ps::tell_broken(output, &statuses);
    for asked in &running {
        if let Err(why) = &asked.answer {
            output.tell(&format!("warning: codeyard {} does not answer: {why}", asked.pid));
        }
    }
    if mistakes.0.is_empty() {
        return Ok(Exit::Done);
    }
    Err(Failure::new(Exit::Usage, mistakes).into())
}

/// Combines definitions, cached tools and the answers of running codeyards.
pub(super) async fn load_table(context: &Context) -> anyhow::Result<ServerTable> {
    let (loaded, mistakes) = context.load_forgiving()?;
    let data = loaded.data_dir.clone();
    let unreadable = |error| Failure::new(Exit::Broken, format!("{}: {error}", data.display()));
    let statuses = control::statuses(&data).await.map_err(unreadable)?;
    let running = control::servers(&data).await.map_err(unreadable)?;
    let logins = logins(&loaded);
    let server = Host::new(loaded.into_parts(context.program()?, &Machine))
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    let remembered = server.host().remembered().await;
    server.look().await;
    let directories = server.host().directories().await;
    server.host().close().await;
    let mut rows: Vec<ServerRow> = registry::list_definitions(&context.sources(), &Machine)
        .iter()
        .map(ServerRow::defined)
        .collect();
    // Loaded only if there is something to count, because loading takes longer than the rest.
    let has_tools = |offer: &Offer| offer.tools.as_ref().is_some_and(|tools| !tools.is_empty());
    let tokenizer = match remembered.iter().any(has_tools) || !directories.is_empty() {
        true => Some(Tokenizer::load()?),
        false => None,
    };
    for (name, login) in logins {
        if let Some(row) = row(&mut rows, &name) {
            row.login = Some(login);
        }
    }
    for offer in &remembered {
        if let Some(row) = row(&mut rows, &offer.name) {
            row.remember(offer, tokenizer.as_ref());
        }
    }
    for asked in &running {
        for report in asked.answer.iter().flatten() {
            if row(&mut rows, &report.name).is_none() {
                rows.push(ServerRow::elsewhere(&report.name));
            }
            if let Some(row) = row(&mut rows, &report.name) {
                row.add(asked.pid, report);
            }
        }
    }
    for (name, tools) in &directories {
        rows.push(ServerRow::directory(name, tools, tokenizer.as_ref()));
    }
    let files = directories.into_iter().map(|(name, tools)| Offer {
        name,
        era: None,
        tools: Some(tools),
        warnings: Vec::new(),
    });
    Ok(ServerTable {
        rows,
        offers: remembered.into_iter().chain(files).collect(),
        mistakes,
        statuses,
        running,
    })
}

/// States of logins by server name.
fn logins(loaded: &Loaded) -> Vec<(String, String)> {
    let logins = loaded.logins(&principal());
    let remote = loaded
        .servers
        .iter()
        .filter_map(|server| match &server.transport {
            Transport::Http(http) if http.takes_login() => Some((&server.name, http)),
            _ => None,
        });
    remote
        .filter_map(|(name, http)| {
            let state = oauth::state(&logins, name, http)?;
            Some((name.clone(), login::state(state)))
        })
        .collect()
}

/// The first row of a name is the one in effect.
fn row<'a>(rows: &'a mut [ServerRow], name: &str) -> Option<&'a mut ServerRow> {
    rows.iter_mut().find(|row| row.name == name)
}

fn table_text(rows: &[ServerRow]) -> String {
    let mut lines = vec![
        [
            "name",
            "state",
            "tools",
            "tokens",
            "calls",
            "transport",
            "protocol",
            "last error",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for row in rows {
        let number =
            |number: Option<usize>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        lines.push(vec![
            row.name.clone(),
            row.state_text(),
            number(row.tools),
            row.tokens
                .map_or_else(|| "-".to_owned(), |tokens| tokens.to_string()),
            row.calls.to_string(),
            row.transport.clone().unwrap_or_else(|| "-".to_owned()),
            row.era.map_or("-", protocol).to_owned(),
            row.last_error.as_deref().map_or_else(|| "-".to_owned(), short),
        ]);
    }
    table(&lines)
}

pub(super) fn protocol(era: Era) -> &'static str {
    match era {
        Era::Legacy => "2025 or older",
        Era::Modern => "2026",
    }
}

/// The first line, shortened and without the server's name; `servers show` prints it whole.
fn short(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    let line = line.split_once("' ").map_or(
        line,
        |(name, rest)| {
            if name.starts_with("server '") { rest } else { line }
        },
    );
    match line.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

// === impl ServerRow ===

impl ServerRow {
    fn defined(defined: &Definition) -> ServerRow {
        let transport = defined.server.as_ref().map(|server| match &server.transport {
            Transport::Stdio(_) => "stdio".to_owned(),
            other => other.name().to_owned(),
        });
        ServerRow {
            name: defined.name.clone(),
            transport,
            status: Some(defined.status),
            file: Some(defined.file.display().to_string()),
            ..ServerRow::default()
        }
    }

    fn directory(name: &str, tools: &[Value], tokenizer: Option<&Tokenizer>) -> ServerRow {
        ServerRow {
            name: name.to_owned(),
            transport: Some("files".to_owned()),
            tools: Some(tools.len()),
            tokens: tokenizer.map(|tokenizer| tokenizer.definitions(tools)),
            ..ServerRow::default()
        }
    }

    /// A server that only a running codeyard with another configuration has.
    fn elsewhere(name: &str) -> ServerRow {
        ServerRow {
            name: name.to_owned(),
            ..ServerRow::default()
        }
    }

    fn remember(&mut self, offer: &Offer, tokenizer: Option<&Tokenizer>) {
        self.era = offer.era;
        self.tools = offer.tools.as_ref().map(Vec::len);
        let tokens = |tools: &[Value]| tokenizer.map_or(0, |tokenizer| tokenizer.definitions(tools));
        self.tokens = offer.tools.as_deref().map(tokens);
    }

    fn add(&mut self, pid: u32, report: &ServerReport) {
        if report.state == Activity::Running {
            self.running_in.push(pid);
        }
        self.processes.extend(report.pid);
        self.activity = self.activity.max(Some(report.state));
        self.transport = self.transport.take().or_else(|| Some(report.transport.clone()));
        self.era = self.era.or(report.era);
        self.tools = report.tools.or(self.tools);
        self.calls += report.calls;
        self.last_error = report.last_error.clone().or_else(|| self.last_error.take());
    }

    /// Why the server is not used, else its activity; a disabled server may still run.
    fn state(&self) -> &'static str {
        let does = self.activity.unwrap_or(Activity::Idle);
        match self.status {
            None | Some(DefinitionStatus::Used) => does.name(),
            Some(_) if does >= Activity::Starting => does.name(),
            Some(unused) => unused.name(),
        }
    }

    pub(super) fn state_text(&self) -> String {
        let state = match self.running_in.len() {
            0 | 1 => self.state().to_owned(),
            several => format!("{} ({several})", self.state()),
        };
        match &self.login {
            _ if self.state() == Activity::NeedsLogin.name() => {
                format!("{state}: codeyard login {}", self.name)
            }
            Some(login) => format!("{state}, {login}"),
            None => state,
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "transport": self.transport,
            "use": self.status.map(DefinitionStatus::name),
            "file": self.file,
            "era": self.era.map(Era::name),
            "state": self.state(),
            "login": self.login,
            "tools": self.tools,
            "tokens": self.tokens,
            "calls": self.calls,
            "running_in": self.running_in,
            "processes": self.processes,
            "last_error": self.last_error,
        })
    }
}
