//! `codeyard runs --savings`: what runs cost a model in tokens, and what the same calls would have cost without codeyard.

mod ledger;

use std::collections::HashSet;

use config::Machine;
use serde_json::json;
use server::Host;
use server::store::{CostView, Reader};
use tokens::Counter;

use crate::cli::{By, RunsArguments};
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::output::{counted, harmless, table};
use ledger::{Ledger, Line, Listed, Remembered, ServerLine};

/// Prints the sums.
pub(super) async fn show(
    context: &Context,
    reader: &mut Reader,
    arguments: &RunsArguments,
) -> anyhow::Result<Exit> {
    let since = arguments.since.map(|since| since.timestamp_millis());
    let mut costs = reader.costs(since).await.map_err(super::failure)?;
    let all = costs.len();
    // What people and tasks ran has cost no model anything.
    costs.retain(|cost| cost.front == "mcp");
    let left_out = all - costs.len();
    if left_out > 0 {
        context.output.tell(&format!(
            "{} of the command line and of tasks left out: no model asked for them",
            counted(left_out, "run")
        ));
    }
    if costs.is_empty() {
        match arguments.json {
            true => context.output.json(&json!({"lines": [], "runs": 0}))?,
            false => context
                .output
                .tell("no run of a client's program is recorded for that time"),
        }
        return Ok(Exit::Done);
    }
    let needs_lists = arguments.by == By::Server || lacks_definitions(&costs);
    let remembered = match needs_lists {
        true => remembered(context).await?,
        false => Remembered::default(),
    };
    let ledger = Ledger::of(costs, remembered);
    match arguments.by {
        By::Server => by_server(context, &ledger, arguments.json)?,
        By::Day | By::Client => by_time_or_client(context, &ledger, arguments)?,
    }
    Ok(Exit::Done)
}

/// Whether the definitions of some session were never counted.
fn lacks_definitions(costs: &[CostView]) -> bool {
    let with_receipt = costs.iter().filter(|cost| cost.receipt.is_some());
    let counted: HashSet<i64> = with_receipt.map(|cost| cost.process).collect();
    costs.iter().any(|cost| !counted.contains(&cost.process))
}

/// Our own definitions, and those that the policy lets a model call of the servers that are configured now, as far as they are
/// remembered; starts none.
async fn remembered(context: &Context) -> anyhow::Result<Remembered> {
    let (loaded, _mistakes) = config::load_forgiving(&context.sources(), &Machine)
        .map_err(|mistakes| Failure::new(Exit::Usage, mistakes))?;
    let server = Host::new(loaded.into_parts(context.program()?, &Machine))
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    let callable = server.callable().await;
    let servers = server.shown_servers().await;
    server.host().close().await;
    let counted = tokio::task::spawn_blocking(move || {
        let counter = Counter::default();
        let tokenizer = counter.load()?;
        let listed = callable.into_iter().map(|(server, tools)| Listed {
            server,
            tokens: tokenizer.definitions(&tools),
        });
        Ok::<_, tokens::Unloadable>(Remembered {
            own: surfaces::definition_tokens(tokenizer, &servers),
            servers: listed.collect(),
        })
    });
    Ok(counted.await??)
}

fn by_time_or_client(context: &Context, ledger: &Ledger, arguments: &RunsArguments) -> anyhow::Result<()> {
    let lines = ledger.lines(arguments.by);
    let total = Line::total(&lines);
    let output = &context.output;
    if arguments.json {
        return output.json(&json!({
            "lines": lines.iter().map(Line::json).collect::<Vec<_>>(),
            "total": total.json(),
        }));
    }
    let name = match arguments.by {
        By::Client => "CLIENT",
        By::Day | By::Server => "DAY (UTC)",
    };
    let mut rows = vec![
        [
            name,
            "RUNS",
            "COUNTED",
            "TOKENS",
            "DIRECT",
            "SAVED",
            "SESSIONS",
            "DEFINITIONS",
            "DIRECT",
            "SAVED WITH THEM",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    rows.extend(lines.iter().chain([&total]).map(|line| {
        let mut cells = vec![harmless(&line.name)];
        cells.extend(line.numbers().iter().map(ToString::to_string));
        cells
    }));
    output.print(&table(&rows))?;
    output.line(&explained(ledger, &total))
}

fn explained(ledger: &Ledger, total: &Line) -> String {
    let mut told = vec![
        "TOKENS is what models wrote, were sent and searched (o200k); DIRECT the same calls made by the model itself."
            .to_owned(),
        "Definitions of tools count once a session of a client.".to_owned(),
    ];
    if total.runs > total.counted {
        told.push(format!(
            "{} had no receipt: estimated from recorded bytes (`codeyard mcp --receipt` counts).",
            counted(total.runs - total.counted, "run")
        ));
    }
    if ledger.estimated_sessions() > 0 {
        told.push(format!(
            "The definitions of {} are those that are remembered now.",
            counted(ledger.estimated_sessions(), "session")
        ));
    }
    told.join("\n")
}

fn by_server(context: &Context, ledger: &Ledger, as_json: bool) -> anyhow::Result<()> {
    let lines = ledger.servers();
    let output = &context.output;
    if as_json {
        return output.json(&json!({"lines": lines.iter().map(ServerLine::json).collect::<Vec<_>>()}));
    }
    let mut rows = vec![
        [
            "SERVER",
            "CALLS",
            "COUNTED",
            "ARGUMENTS",
            "ANSWERS",
            "DEFINITIONS",
            "SESSIONS",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    rows.extend(lines.iter().map(|line| {
        let definitions = line
            .definitions
            .map_or_else(|| "-".to_owned(), |tokens| tokens.to_string());
        vec![
            harmless(&line.server),
            line.calls.to_string(),
            line.counted.to_string(),
            line.written.to_string(),
            line.read.to_string(),
            definitions,
            ledger.sessions().to_string(),
        ]
    }));
    output.print(&table(&rows))?;
    output.line(
        "Tokens (o200k) that a model would have paid without codeyard: arguments and answers of calls, and the definitions of \
         all tools of the server that may be called, as they are remembered now, once a session. Calls that no receipt \
         counted are estimated from recorded bytes. What programs cost belongs to no one server: --by day shows it.",
    )
}
