//! Connects to each server once and counts what its definitions cost a model.

use std::time::Instant;

use accounting::Tokenizer;
use clients::Client;
use environment::Machine;
use serde_json::{Value, json};
use server::{Caller, Host, Surface};
use settings::Loaded;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use upstream::ServerConfig;

use super::plan::{Fate, Plan};
use crate::context::{Context, principal};
use crate::demo::peer::Peer;
use crate::exit::{Exit, Failure};
use crate::output::{counted, grouped, table};

/// Bytes that wait in the pipe to the gateway.
const PIPE: usize = 64 * 1024;

/// What each server offers, and what that costs.
pub(super) struct Bill {
    servers: Vec<Line>,
    /// Tokens of what codeyard shows in their place.
    after: u64,
}

struct Line {
    name: String,
    /// Whether the client uses it, so that its tools cost something there now.
    is_used: bool,
    offer: Result<(usize, u64), String>,
}

/// Connects to all that are to be used, side by side; a server that fails is a line of the bill.
pub(super) async fn run(context: &Context, mut loaded: Loaded, plan: &Plan) -> anyhow::Result<Bill> {
    let used = plan
        .all
        .iter()
        .filter(|planned| !matches!(planned.fate, Fate::Left(_)));
    let servers: Vec<ServerConfig> = used.filter_map(|planned| planned.server.clone()).collect();
    loaded.servers = servers;
    let mut parts = loaded.into_parts(context.program()?, &Machine);
    parts.upstream.asks_anew = true;
    let server = Host::new(parts)
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    ask_all(context, &server).await;
    let counted = count(&server, plan).await;
    server.host().close().await;
    counted
}

/// Asks all servers side by side, and tells a person who watches of each as it answers.
async fn ask_all(context: &Context, server: &Caller) {
    let mut asked = JoinSet::new();
    let begun = Instant::now();
    for name in server.host().names() {
        let server = server.clone();
        asked.spawn(async move {
            let tried = server.host().try_server(&name).await;
            (name, tried, begun.elapsed())
        });
    }
    let all = asked.len();
    while let Some(answered) = asked.join_next().await {
        let Ok((name, tried, after)) = answered else {
            continue;
        };
        let seconds = after.as_secs_f64();
        let place = format!("[{}/{all}]", all - asked.len());
        context.output.progress(&match tried {
            Ok(tried) => {
                let tools = tried.offer.tools.map_or(0, |tools| tools.len());
                format!("{place} {name}: {}, {seconds:.1} s", counted(tools, "tool"))
            }
            Err(_) => format!("{place} {name}: failed, {seconds:.1} s"),
        });
    }
}

async fn count(server: &Caller, plan: &Plan) -> anyhow::Result<Bill> {
    let listing = server.list().await;
    let offers = server.host().remembered().await;
    let tokenizer = Tokenizer::load()?;
    let line = |listed: server::NamedServer| {
        let offer = offers.iter().find(|offer| offer.name == listed.name);
        let tools = offer.and_then(|offer| offer.tools.as_deref());
        let offer = match (listed.problem, tools) {
            (None, Some(tools)) => {
                let shown = shown(plan, &listed.name, tools);
                Ok((shown.len(), tokenizer.definitions(&shown)))
            }
            (problem, _) => Err(problem.unwrap_or_else(|| "lists no tools".to_owned())),
        };
        let mut same = plan.all.iter().filter(|planned| planned.name == listed.name);
        Line {
            is_used: same.any(|planned| planned.found.is_enabled),
            name: listed.name,
            offer,
        }
    };
    Ok(Bill {
        servers: listing.servers.into_iter().map(line).collect(),
        after: ours(server, &tokenizer).await?,
    })
}

/// The tools of a server that the client shows the model.
fn shown(plan: &Plan, server: &str, tools: &[Value]) -> Vec<Value> {
    let planned = plan.all.iter().find(|planned| planned.name == server);
    let filters = planned
        .map(|planned| planned.found.filters.as_slice())
        .unwrap_or_default();
    let is_shown = |tool: &&Value| {
        let name = tool["name"].as_str().unwrap_or_default();
        filters.iter().all(|filter| filter.shows(name))
    };
    tools.iter().filter(is_shown).cloned().collect()
}

/// What a model is sent of codeyard: its tools and its instructions, as a client hears them.
async fn ours(server: &Caller, tokenizer: &Tokenizer) -> anyhow::Result<u64> {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (read, write) = tokio::io::split(theirs);
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn({
        let (server, shutdown) = (server.clone(), shutdown.clone());
        async move { server.serve_over(Surface::Code, read, write, shutdown).await }
    });
    let introduction = Peer::new(ours).open().await;
    shutdown.cancel();
    serving.await?;
    let introduction = introduction?;
    Ok(tokenizer.definitions(&introduction.tools) + tokenizer.text(&introduction.instructions))
}

// === impl Bill ===

impl Bill {
    pub(super) fn has_failed(&self, name: &str) -> bool {
        self.servers
            .iter()
            .any(|line| line.name == name && line.offer.is_err())
    }

    /// Tools and tokens of all that answered and that the client uses; none if there is no such server.
    fn before(&self) -> Option<(usize, u64)> {
        let used = self.servers.iter().filter(|line| line.is_used);
        let offers = used.filter_map(|line| line.offer.as_ref().ok().copied());
        offers.reduce(|(tools, tokens), offer| (tools + offer.0, tokens + offer.1))
    }

    /// A line for each server.
    pub(super) fn table(&self) -> String {
        let mut rows = vec![["server", "tools", "tokens", ""].map(str::to_owned).to_vec()];
        rows.extend(self.servers.iter().map(|line| match &line.offer {
            Ok((tools, tokens)) => vec![
                line.name.clone(),
                tools.to_string(),
                tokens.to_string(),
                String::new(),
            ],
            Err(problem) => vec![
                line.name.clone(),
                "-".to_owned(),
                "-".to_owned(),
                // What a server wrote may have lines.
                problem.split_whitespace().collect::<Vec<_>>().join(" "),
            ],
        }));
        if rows.len() > 1 {
            table(&rows)
        } else {
            String::new()
        }
    }

    /// The total before and after; none where nothing that the client uses answered.
    pub(super) fn totals(&self, client: Client) -> Option<String> {
        let (tools, before) = self.before()?;
        Some(format!(
            "the definitions of {} cost {} tokens with every question in {client} now; with codeyard {}",
            counted(tools, "tool"),
            grouped(before),
            grouped(self.after)
        ))
    }

    pub(super) fn json(&self) -> Value {
        let server = |line: &Line| match &line.offer {
            Ok((tools, tokens)) => {
                json!({"name": line.name, "tools": tools, "tokens": tokens, "problem": null})
            }
            Err(problem) => json!({"name": line.name, "tools": null, "tokens": null, "problem": problem}),
        };
        let servers: Vec<Value> = self.servers.iter().map(server).collect();
        json!({"servers": servers, "tokens_before": self.before().map(|before| before.1), "tokens_after": self.after})
    }
}
