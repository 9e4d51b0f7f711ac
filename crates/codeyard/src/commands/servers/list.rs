//! The table of all servers: what is defined, what is remembered, and what each running codeyard says of it.

use config::{Defined, Loaded, Machine, Transport, Use};
use serde_json::{Value, json};
use server::Server;
use server::control::{self, ServerReport};
use server::servers::Offer;

use crate::commands::{login, ps};
use crate::context::Context;
use crate::demo::tokens::Counter;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};

/// Characters of an error that fit into the table.
const SHORT: usize = 60;

/// One server.
#[derive(Debug, Default)]
struct Row {
    name: String,
    transport: Option<String>,
    /// What the definition says of its use; `None` if it is not in this configuration.
    use_: Option<Use>,
    file: Option<String>,
    era: Option<String>,
    /// `used` servers are idle, starting, running or failed; the others are what their definition says.
    state: String,
    /// What is kept of a login to it.
    login: Option<String>,
    tools: Option<usize>,
    tokens: Option<usize>,
    calls: u64,
    /// Numbers of the codeyards that have it running.
    running_in: Vec<u32>,
    last_error: Option<String>,
}

/// Lists them.
pub(super) async fn run(context: &Context, as_json: bool) -> anyhow::Result<Exit> {
    let (loaded, mistakes) = context.load_forgiving()?;
    let data = loaded.data_dir.clone();
    let unreadable = |error| Failure::new(Exit::Broken, format!("{}: {error}", data.display()));
    let statuses = control::statuses(&data).await.map_err(unreadable)?;
    let running = control::servers(&data).await.map_err(unreadable)?;
    let logins = logins(&loaded);
    let server = Server::new(loaded.into_parts(context.program()?, &Machine))
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let remembered = server.remembered().await;
    server.close().await;
    let mut rows: Vec<Row> = config::defined(&context.sources(), &Machine)
        .iter()
        .map(Row::defined)
        .collect();
    for (name, login) in logins {
        if let Some(row) = row(&mut rows, &name) {
            row.login = Some(login);
        }
    }
    for offer in &remembered {
        if let Some(row) = row(&mut rows, &offer.name) {
            row.remember(offer)?;
        }
    }
    for asked in &running {
        for report in asked.answer.iter().flatten() {
            if row(&mut rows, &report.name).is_none() {
                rows.push(Row::elsewhere(&report.name));
            }
            if let Some(row) = row(&mut rows, &report.name) {
                row.add(asked.pid, report);
            }
        }
    }
    let output = &context.output;
    if as_json {
        output.json(&json!({
            "servers": rows.iter().map(Row::json).collect::<Vec<_>>(),
            "mistakes": mistakes.iter().flat_map(|mistakes| &mistakes.0).map(ToString::to_string).collect::<Vec<_>>(),
        }))?;
    } else if rows.is_empty() {
        output.tell("no server is defined; `codeyard servers add` adds one");
    } else {
        output.print(&harmless(&shown(&rows)))?;
    }
    ps::tell_broken(output, &statuses);
    for asked in &running {
        if let Err(why) = &asked.answer {
            output.tell(&format!("warning: codeyard {} does not answer: {why}", asked.pid));
        }
    }
    match mistakes {
        Some(mistakes) => Err(Failure::new(Exit::Usage, mistakes).into()),
        None => Ok(Exit::Done),
    }
}

/// What is kept of logins, by the name of the server.
fn logins(loaded: &Loaded) -> Vec<(String, String)> {
    let directory = loaded.logins();
    let remote = loaded
        .servers
        .iter()
        .filter_map(|server| match &server.transport {
            Transport::Http(http) if http.takes_login() => Some((&server.name, http)),
            _ => None,
        });
    remote
        .filter_map(|(name, http)| {
            let state = server::logins::state(&directory, name, http)?;
            Some((name.clone(), login::state(state)))
        })
        .collect()
}

/// Tokens of definitions as a model would be sent them.
pub(super) fn tokens(tools: &[Value]) -> anyhow::Result<usize> {
    match tools {
        [] => Ok(0),
        tools => Ok(Counter::new()?.definitions(tools)),
    }
}

/// The first of that name is the one that counts.
fn row<'a>(rows: &'a mut [Row], name: &str) -> Option<&'a mut Row> {
    rows.iter_mut().find(|row| row.name == name)
}

fn shown(rows: &[Row]) -> String {
    let mut lines = vec![
        [
            "name",
            "transport",
            "era",
            "state",
            "tools",
            "tokens",
            "calls",
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
            row.transport.clone().unwrap_or_else(|| "-".to_owned()),
            row.era.clone().unwrap_or_else(|| "-".to_owned()),
            row.state_told(),
            number(row.tools),
            number(row.tokens),
            row.calls.to_string(),
            row.last_error.as_deref().map_or_else(|| "-".to_owned(), short),
        ]);
    }
    table(&lines)
}

/// The first line, cut; `--json` has the whole.
fn short(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

// === impl Row ===

impl Row {
    fn defined(defined: &Defined) -> Row {
        let state = match defined.use_ {
            Use::Used => "idle",
            other => other.name(),
        };
        let transport = defined.server.as_ref().map(|server| match &server.transport {
            Transport::Stdio(_) => "stdio".to_owned(),
            other => other.name().to_owned(),
        });
        let has_url = ["url", "serverUrl", "httpUrl"]
            .iter()
            .any(|field| defined.entry[field].is_string());
        Row {
            name: defined.name.clone(),
            transport: transport.or_else(|| has_url.then(|| "http".to_owned())),
            use_: Some(defined.use_),
            file: Some(defined.file.display().to_string()),
            state: state.to_owned(),
            ..Row::default()
        }
    }

    /// One that only a running codeyard knows, from another configuration.
    fn elsewhere(name: &str) -> Row {
        Row {
            name: name.to_owned(),
            state: "idle".to_owned(),
            ..Row::default()
        }
    }

    fn remember(&mut self, offer: &Offer) -> anyhow::Result<()> {
        self.era = offer.era.map(str::to_owned);
        self.tools = offer.tools.as_ref().map(Vec::len);
        self.tokens = offer.tools.as_deref().map(tokens).transpose()?;
        Ok(())
    }

    fn add(&mut self, pid: u32, report: &ServerReport) {
        if report.state == "running" {
            self.running_in.push(pid);
        }
        // What is most alive counts; a definition that is not used any more may still run.
        let rank = |state: &str| {
            ["idle", "failed", "needs login", "starting", "running"]
                .iter()
                .position(|known| *known == state)
        };
        if rank(&report.state)
            > rank(&self.state)
                .or(Some(0))
                .filter(|_| self.use_.is_none_or(|use_| use_ == Use::Used))
        {
            self.state.clone_from(&report.state);
        }
        self.transport = self.transport.take().or_else(|| Some(report.transport.clone()));
        self.era = self.era.take().or_else(|| report.era.clone());
        self.tools = report.tools.or(self.tools);
        self.calls += report.calls;
        self.last_error = report.last_error.clone().or_else(|| self.last_error.take());
    }

    fn state_told(&self) -> String {
        let state = match self.running_in.len() {
            0 | 1 => self.state.clone(),
            several => format!("{} ({several})", self.state),
        };
        match &self.login {
            Some(login) => format!("{state}, {login}"),
            None => state,
        }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "transport": self.transport,
            "use": self.use_.map(Use::name),
            "file": self.file,
            "era": self.era,
            "state": self.state,
            "login": self.login,
            "tools": self.tools,
            "tokens": self.tokens,
            "calls": self.calls,
            "running_in": self.running_in,
            "last_error": self.last_error,
        })
    }
}
