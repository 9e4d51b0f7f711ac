//! Connects to each server once and counts the tokens of its definitions.

use std::time::Instant;

use accounting::Tokenizer;
use adoption::{Bill, Decision, ImportPlan, ServerCost};
use environment::Machine;
use serde_json::Value;
use server::{Caller, Host, Surface};
use settings::Loaded;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use types::numbers::counted;
use upstream::ServerConfig;

use crate::context::{Context, principal};
use crate::demo::peer::Peer;
use crate::exit::{Exit, Failure};

/// Bytes the pipe to the gateway holds.
const PIPE: usize = 64 * 1024;

/// Connects to all servers in use, in parallel; a failed server is a row of the bill.
pub(super) async fn run(context: &Context, mut loaded: Loaded, plan: &ImportPlan) -> anyhow::Result<Bill> {
    let used = plan
        .servers
        .iter()
        .filter(|planned| !matches!(planned.decision, Decision::Skipped(_)));
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

/// Queries all servers in parallel; on a terminal, prints each answer.
async fn ask_all(context: &Context, server: &Caller) {
    let mut queries = JoinSet::new();
    let begun = Instant::now();
    for name in server.host().names() {
        let server = server.clone();
        queries.spawn(async move {
            let tried = server.host().try_server(&name).await;
            (name, tried, begun.elapsed())
        });
    }
    let all = queries.len();
    while let Some(answered) = queries.join_next().await {
        let Ok((name, tried, after)) = answered else {
            continue;
        };
        let seconds = after.as_secs_f64();
        let place = format!("[{}/{all}]", all - queries.len());
        context.output.progress(&match tried {
            Ok(tried) => {
                let tools = tried.offer.tools.map_or(0, |tools| tools.len());
                format!("{place} {name}: {}, {seconds:.1} s", counted(tools, "tool"))
            }
            Err(_) => format!("{place} {name}: failed, {seconds:.1} s"),
        });
    }
}

async fn count(server: &Caller, plan: &ImportPlan) -> anyhow::Result<Bill> {
    let listing = server.list().await;
    let offers = server.host().remembered().await;
    let tokenizer = Tokenizer::load()?;
    let line = |listed: server::NamedServer| {
        let offer = offers.iter().find(|offer| offer.name == listed.name);
        let tools = offer.and_then(|offer| offer.tools.as_deref());
        let offer = match (listed.problem, tools) {
            (None, Some(tools)) => {
                let shown = shown_tools(plan, &listed.name, tools);
                Ok((shown.len(), tokenizer.definitions(&shown)))
            }
            (problem, _) => Err(problem.unwrap_or_else(|| "lists no tools".to_owned())),
        };
        let mut same = plan.servers.iter().filter(|planned| planned.name == listed.name);
        ServerCost {
            is_used: same.any(|planned| planned.found.is_enabled),
            name: listed.name,
            definitions: offer,
        }
    };
    Ok(Bill {
        servers: listing.servers.into_iter().map(line).collect(),
        after: ours(server, &tokenizer).await?,
    })
}

/// The server's tools that the client shows the model.
fn shown_tools(plan: &ImportPlan, server: &str, tools: &[Value]) -> Vec<Value> {
    let planned = plan.servers.iter().find(|planned| planned.name == server);
    let filters = planned
        .map(|planned| planned.found.filters.as_slice())
        .unwrap_or_default();
    let is_shown = |tool: &&Value| {
        let name = tool["name"].as_str().unwrap_or_default();
        filters.iter().all(|filter| filter.shows(name))
    };
    tools.iter().filter(is_shown).cloned().collect()
}

/// Tokens of codeyard's own tools and instructions, measured over a client's connection.
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
