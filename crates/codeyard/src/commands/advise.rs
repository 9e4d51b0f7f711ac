//! `codeyard advise`: tools that are cheaper as direct calls, and the cost of exposing them.

use accounting::{Advice, MIN_LOOKUPS, Recommendation, RunCost, ToolAdvice};
use environment::Machine;
use serde_json::{Value, json};
use server::Host;
use store::{Opened, Reader};
use types::numbers::counted;

use crate::cli::AdviseArguments;
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::output::{Output, harmless, table};

/// Judges the recorded runs by each server's last listed definitions.
pub async fn run(context: &Context, arguments: &AdviseArguments) -> anyhow::Result<Exit> {
    let loaded = context.load()?;
    let (records, expose) = (loaded.records(), loaded.settings.expose.clone());
    let parts = loaded.into_parts(context.program()?, &Machine);
    let server = Host::new(parts)
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    let (definitions, exposed) = (server.prices_of_all().await, server.exposed_tools().await);
    server.host().close().await;
    let definitions = definitions?;
    let since = arguments.since.map(|since| since.timestamp_millis());
    let broken = |trouble| Failure::new(Exit::Broken, trouble);
    let costs: Vec<RunCost> = match Reader::open(&records, &principal()).await.map_err(broken)? {
        Opened::Empty => Vec::new(),
        Opened::Open(mut reader) => reader.costs(since).await.map_err(broken)?,
    };
    let budget = arguments.budget.unwrap_or(expose.budget);
    let advice = Advice::new(&costs, &definitions, &exposed, budget);
    let tools: Vec<&ToolAdvice> = match arguments.all {
        true => advice.tools().collect(),
        false => advice.tools_in_use().collect(),
    };
    if arguments.json {
        context.output.json(&json_of(&advice, &tools))?;
    } else {
        show(&context.output, &advice, &tools)?;
    }
    Ok(Exit::Done)
}

fn show(output: &Output, advice: &Advice, tools: &[&ToolAdvice]) -> anyhow::Result<()> {
    output.line(&summary(advice))?;
    if !tools.is_empty() {
        let mut rows = vec![
            [
                "TOOL",
                "CALLS",
                "LOOK-UPS",
                "SAVED EACH",
                "DEFINITION",
                "PAYS FROM",
                "IN ALL",
                "BETTER",
            ]
            .map(str::to_owned)
            .to_vec(),
        ];
        rows.extend(tools.iter().map(|tool| cells(tool)));
        output.print(&table(&rows))?;
        output.line(
            "Tokens (o200k). SAVED EACH: of a look-up, if the model calls the tool itself. DEFINITION: once a session. PAYS \
             FROM: look-ups a session. IN ALL: over the recorded sessions.",
        )?;
    }
    output.line("")?;
    output.line(&proposal(advice))
}

fn cells(tool: &ToolAdvice) -> Vec<String> {
    let or_dash = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
    vec![
        harmless(&tool.tool.to_string()),
        tool.calls.to_string(),
        tool.lookups.to_string(),
        or_dash(tool.saved_per_lookup().map(|saved| saved.to_string())),
        or_dash(tool.definition.map(|tokens| tokens.to_string())),
        or_dash(tool.break_even().map(|lookups| format!("{lookups:.1}"))),
        or_dash(tool.saved_in_all.map(|saved| saved.to_string())),
        tool.recommendation.name().to_owned(),
    ]
}

fn summary(advice: &Advice) -> String {
    let mut text = format!(
        "{} runs in {} sessions, {} of them look-ups: one call, its answer returned nearly whole.",
        advice.runs, advice.sessions, advice.lookups
    );
    if advice.left_out > 0 {
        text.push_str(&format!(
            "\n{} of the command line and of tasks left out: no model asked for them.",
            counted(advice.left_out, "run")
        ));
    }
    if let Some(percent) = advice.overhead() {
        let difference = match percent {
            0.. => format!("{percent} % more"),
            less => format!("{} % less", less.unsigned_abs()),
        };
        text.push_str(&format!(
            "\nLook-ups by programs cost {difference} tokens than direct calls would have."
        ));
    }
    if advice.estimated > 0 {
        text.push_str(&format!(
            "\n{} of the look-ups had no receipt and are estimated; `codeyard mcp --receipt` counts.",
            advice.estimated
        ));
    }
    text
}

fn proposal(advice: &Advice) -> String {
    if advice.is_over_budget() {
        return format!(
            "What is exposed takes {0} tokens, more than the budget of {1}, with which Codeyard does not start: leave tools out of \
             [expose], or raise the budget to {0}.",
            advice.exposed, advice.budget
        );
    }
    if !advice.has_enough() {
        return format!(
            "Too little is recorded for a proposal: it takes {} look-ups of a tool. Nothing needs to be changed; ask again later.",
            MIN_LOOKUPS
        );
    }
    if advice.proposed.is_empty() {
        return format!(
            "No tool pays for its definition within {} tokens: leave them all to programs.",
            advice.budget
        );
    }
    format!(
        "Within {} tokens, in the order of what they save. In codeyard.toml:\n\n{}",
        advice.budget,
        lines(advice)
    )
}

fn lines(advice: &Advice) -> String {
    let tools: Vec<String> = advice
        .proposed
        .iter()
        .map(|tool| Value::from(tool.as_str()).to_string())
        .collect();
    format!(
        "[expose]\ntools = [{}]\nbudget = {}",
        tools.join(", "),
        advice.budget
    )
}

fn json_of(advice: &Advice, tools: &[&ToolAdvice]) -> Value {
    let tools = tools.iter().map(|tool| {
        json!({
            "tool": tool.tool.to_string(),
            "calls": tool.calls,
            "lookups": tool.lookups,
            "saved_each": tool.saved_per_lookup(),
            "definition": tool.definition,
            "pays_from": tool.break_even(),
            "in_all": tool.saved_in_all,
            "better": tool.recommendation.name(),
            "exposed": tool.recommendation == Recommendation::Exposed,
        })
    });
    json!({
        "runs": advice.runs,
        "left_out": advice.left_out,
        "sessions": advice.sessions,
        "lookups": advice.lookups,
        "estimated": advice.estimated,
        "overhead_percent": advice.overhead(),
        "budget": advice.budget,
        "exposed": advice.exposed,
        "over_budget": advice.is_over_budget(),
        "tools": tools.collect::<Vec<_>>(),
        "enough": advice.has_enough(),
        "proposed": advice.proposed,
        "lines": (!advice.proposed.is_empty()).then(|| lines(advice)),
    })
}
