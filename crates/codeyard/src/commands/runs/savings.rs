//! `codeyard runs --savings`: token cost of runs for a model, beside the cost of direct calls.

use accounting::{GroupBy, KnownDefinitions, Ledger, RunCost, SavingsLine, ServerLine};
use environment::Machine;
use serde_json::{Value, json};
use server::Host;
use store::Reader;
use types::numbers::counted;

use crate::cli::{RunsArguments, SavingsKey};
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};

pub(super) async fn show(
    context: &Context,
    reader: &mut Reader,
    arguments: &RunsArguments,
) -> anyhow::Result<Exit> {
    let since = arguments.since.map(|since| since.timestamp_millis());
    let mut costs = reader.costs(since).await.map_err(super::failure)?;
    let all = costs.len();
    costs.retain(RunCost::is_of_model);
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
    let needs_definitions = arguments.by == SavingsKey::Server || Ledger::lacks_definitions(&costs);
    let known = match needs_definitions {
        true => known_definitions(context).await?,
        false => KnownDefinitions::default(),
    };
    let ledger = Ledger::new(costs, known);
    match arguments.by {
        SavingsKey::Server => by_server(context, &ledger, arguments)?,
        SavingsKey::Day => by_group(context, &ledger, GroupBy::Day, arguments)?,
        SavingsKey::Client => by_group(context, &ledger, GroupBy::Client, arguments)?,
    }
    Ok(Exit::Done)
}

/// Reads each server's last listed definitions; starts no server.
async fn known_definitions(context: &Context) -> anyhow::Result<KnownDefinitions> {
    let (loaded, _mistakes) = settings::load_forgiving(&context.settings_arguments(), &Machine)
        .map_err(|mistakes| Failure::new(Exit::Usage, mistakes))?;
    let server = Host::new(loaded.into_parts(context.program()?, &Machine))
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    let known = server.known_definitions().await;
    server.host().close().await;
    Ok(known?)
}

fn by_group(
    context: &Context,
    ledger: &Ledger,
    by: GroupBy,
    arguments: &RunsArguments,
) -> anyhow::Result<()> {
    let lines = ledger.lines(by);
    let total = SavingsLine::total(&lines);
    let output = &context.output;
    if arguments.json {
        return output.json(&json!({
            "lines": lines.iter().map(line_json).collect::<Vec<_>>(),
            "total": line_json(&total),
        }));
    }
    let name = match by {
        GroupBy::Client => "CLIENT",
        GroupBy::Day => "DAY (UTC)",
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
        vec![
            harmless(&line.name),
            line.runs.to_string(),
            line.counted.to_string(),
            line.tokens.to_string(),
            line.direct.to_string(),
            line.saved().to_string(),
            line.sessions.to_string(),
            line.definitions.to_string(),
            line.direct_definitions.to_string(),
            line.saved_with_definitions().to_string(),
        ]
    }));
    output.print(&table(&rows))?;
    output.line(&explanation(ledger, &total))
}

fn line_json(line: &SavingsLine) -> Value {
    json!({
        "name": line.name,
        "runs": line.runs,
        "counted": line.counted,
        "estimated": line.runs - line.counted,
        "tokens": line.tokens,
        "direct": line.direct,
        "saved": line.saved(),
        "sessions": line.sessions,
        "definitions": line.definitions,
        "direct_definitions": line.direct_definitions,
        "saved_with_definitions": line.saved_with_definitions(),
    })
}

fn explanation(ledger: &Ledger, total: &SavingsLine) -> String {
    let mut lines = vec![
        "TOKENS counts what models wrote, were sent and searched (o200k); DIRECT the same calls made by the model itself."
            .to_owned(),
        "Definitions of tools count once a session of a client.".to_owned(),
    ];
    if total.runs > total.counted {
        lines.push(format!(
            "{} had no receipt: estimated from recorded bytes (`codeyard mcp --receipt` counts).",
            counted(total.runs - total.counted, "run")
        ));
    }
    if ledger.estimated_sessions() > 0 {
        lines.push(format!(
            "The definitions of {} are the ones cached now.",
            counted(ledger.estimated_sessions(), "session")
        ));
    }
    lines.join("\n")
}

fn by_server(context: &Context, ledger: &Ledger, arguments: &RunsArguments) -> anyhow::Result<()> {
    let lines = ledger.servers();
    let output = &context.output;
    if arguments.json {
        return output.json(&json!({"lines": lines.iter().map(server_json).collect::<Vec<_>>()}));
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

fn server_json(line: &ServerLine) -> Value {
    json!({
        "server": line.server,
        "calls": line.calls,
        "counted": line.counted,
        "estimated": line.calls - line.counted,
        "arguments": line.written,
        "answers": line.read,
        "definitions": line.definitions,
    })
}
