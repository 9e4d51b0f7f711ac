//! `codeyard advise`: which tools are cheaper called directly, and what it costs to let the model see them.

mod judge;

use config::Machine;
use serde_json::{Value, json};
use server::Host;
use server::store::{CostView, Reader, State};

use crate::cli::AdviseArguments;
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::output::{Output, counted, harmless, table};
use judge::{Advice, Judged, Verdict};

/// Judges what is recorded, with the definitions that are remembered.
pub async fn run(context: &Context, arguments: &AdviseArguments) -> anyhow::Result<Exit> {
    let loaded = context.load()?;
    let (records, expose) = (loaded.records(), loaded.settings.expose.clone());
    let parts = loaded.into_parts(context.program()?, &Machine);
    let server = Host::new(parts)
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    let (priced, exposed) = (server.prices_of_all().await, server.exposed_tools().await);
    server.host().close().await;
    let priced = priced?;
    let since = arguments.since.map(|since| since.timestamp_millis());
    let broken = |trouble| Failure::new(Exit::Broken, trouble);
    let costs: Vec<CostView> = match Reader::open(&records, &crate::context::principal())
        .await
        .map_err(broken)?
    {
        State::Empty => Vec::new(),
        State::Open(mut reader) => reader.costs(since).await.map_err(broken)?,
    };
    let budget = arguments.budget.unwrap_or(expose.budget);
    let advice = Advice::of(&costs, &priced, &exposed, budget);
    if arguments.json {
        context.output.json(&described(&advice, arguments.all))?;
    } else {
        show(&context.output, &advice, arguments.all)?;
    }
    Ok(Exit::Done)
}

fn show(output: &Output, advice: &Advice, all: bool) -> anyhow::Result<()> {
    output.line(&summary(advice))?;
    let told: Vec<&Judged> = advice.told(all).collect();
    if !told.is_empty() {
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
        rows.extend(told.into_iter().map(cells));
        output.print(&table(&rows))?;
        output.line(
            "Tokens (o200k). SAVED EACH: of a look-up, if the model calls the tool itself. DEFINITION: once a session. PAYS \
             FROM: look-ups a session. IN ALL: over the recorded sessions.",
        )?;
    }
    output.line("")?;
    output.line(&proposal(advice))
}

fn cells(judged: &Judged) -> Vec<String> {
    let or_dash = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
    vec![
        harmless(&judged.name()),
        judged.calls.to_string(),
        judged.lookups.to_string(),
        or_dash(judged.saved_each().map(|saved| saved.to_string())),
        or_dash(judged.price.map(|price| price.to_string())),
        or_dash(judged.pays_from().map(|lookups| format!("{lookups:.1}"))),
        or_dash(judged.in_all.map(|net| net.to_string())),
        judged.verdict.name().to_owned(),
    ]
}

fn summary(advice: &Advice) -> String {
    let mut text = format!(
        "{} runs in {} sessions, {} of them look-ups: one call, its answer back nearly whole.",
        advice.runs, advice.sessions, advice.lookups
    );
    if advice.left_out > 0 {
        text.push_str(&format!(
            "\n{} of the command line and of tasks left out: no model asked for them.",
            counted(advice.left_out, "run")
        ));
    }
    if let Some(percent) = advice.overhead() {
        let told = match percent {
            0.. => format!("{percent} % more"),
            less => format!("{} % less", less.unsigned_abs()),
        };
        text.push_str(&format!(
            "\nLook-ups by programs cost {told} tokens than direct calls would have."
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
    if advice.is_over() {
        return format!(
            "What is exposed takes {0} tokens, more than the budget of {1}, with which Codeyard does not start: leave tools out of \
             [expose], or raise the budget to {0}.",
            advice.exposed, advice.budget
        );
    }
    if advice.is_too_little() {
        return format!(
            "Too little is recorded for a proposal: it takes {} look-ups of a tool. Nothing needs to be changed; ask again later.",
            judge::ENOUGH
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

/// The lines for the settings.
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

fn described(advice: &Advice, all: bool) -> Value {
    let tools = advice.told(all).map(|judged| {
        json!({
            "tool": judged.name(),
            "calls": judged.calls,
            "lookups": judged.lookups,
            "saved_each": judged.saved_each(),
            "definition": judged.price,
            "pays_from": judged.pays_from(),
            "in_all": judged.in_all,
            "better": judged.verdict.name(),
            "exposed": judged.verdict == Verdict::Exposed,
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
        "over_budget": advice.is_over(),
        "tools": tools.collect::<Vec<_>>(),
        "enough": !advice.is_too_little(),
        "proposed": advice.proposed,
        "lines": (!advice.proposed.is_empty()).then(|| lines(advice)),
    })
}
