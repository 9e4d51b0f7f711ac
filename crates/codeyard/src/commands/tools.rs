//! `codeyard tools`: connected tools, and the types learned from their results.

mod confined_directory;
mod generate;
mod learned;
mod stubs;
mod written;

use environment::Machine;
use server::{Caller, Host, Listing, ToolView};
use types::MAX_QUERY;
use types::numbers::counted;

use crate::cli::{ShowArguments, ToolsArguments, ToolsCommand};
use crate::commands::call;
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::{Output, Tone, harmless};

pub async fn run(context: &Context, arguments: &ToolsArguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Some(ToolsCommand::Learned(arguments)) => return learned::show(context, arguments).await,
        Some(ToolsCommand::Forget(arguments)) => return learned::forget(context, arguments).await,
        Some(ToolsCommand::Show(_) | ToolsCommand::Stubs(_) | ToolsCommand::Generate(_)) | None => {}
    }
    let loaded = context.load_and_tell()?;
    let parts = loaded.into_parts(context.program()?, &Machine);
    let interrupt = Interrupt::watch()?;
    let server = Host::new(parts)
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    let work = async {
        server.look().await;
        match &arguments.command {
            Some(ToolsCommand::Show(show)) => show_tool(context, &server, show).await,
            Some(ToolsCommand::Generate(arguments)) => generate::write(context, &server, arguments).await,
            Some(ToolsCommand::Stubs(arguments)) => stubs::write(context, &server, arguments).await,
            _ => match arguments.query.as_slice() {
                [] => list(context, &server, arguments, None).await,
                [name] if server.is_server(name) => list(context, &server, arguments, Some(name)).await,
                [name] if is_one_name(name) && server.is_tool_of_a_server(name) => {
                    let show = ShowArguments {
                        tool: name.clone(),
                        json: arguments.json,
                        language: None,
                    };
                    show_tool(context, &server, &show).await
                }
                _ => search(context, &server, arguments).await,
            },
        }
    };
    let done = tokio::select! {
        done = work => done,
        () = interrupt.token.cancelled() => Ok(Exit::Done),
    };
    server.host().close().await;
    Ok(interrupt.exit(done?))
}

/// Whether the text may be SERVER.TOOL; text with whitespace is a search.
fn is_one_name(text: &str) -> bool {
    !text.contains(char::is_whitespace)
}

/// Lists every server, or the named one.
async fn list(
    context: &Context,
    server: &Caller,
    arguments: &ToolsArguments,
    name: Option<&str>,
) -> anyhow::Result<Exit> {
    context.output.progress("asking the servers for their tools ...");
    let listing = match name {
        None => server.list().await,
        Some(name) => server.list_one(name).await,
    };
    if arguments.json {
        context.output.json(&listing)?;
    } else {
        context.output.print(&listed(&listing, &context.output))?;
    }
    let failed = listing.servers.iter().any(|server| server.problem.is_some());
    Ok(if failed { Exit::Upstream } else { Exit::Done })
}

fn listed(listing: &Listing, output: &Output) -> String {
    let mut out = String::new();
    for server in &listing.servers {
        let description = server
            .description
            .as_ref()
            .map_or(String::new(), |text| format!(" - {text}"));
        let kind = if server.is_files { " (tool files)" } else { "" };
        let title = harmless(&format!("{}{kind}{description}", server.name)).replace('\n', " ");
        out.push_str(&output.paint(Tone::Title, &title));
        out.push('\n');
        if let Some(problem) = &server.problem {
            out.push_str(&format!("  {}\n", output.paint(Tone::Bad, &harmless(problem))));
        }
        for warning in &server.warnings {
            out.push_str(&format!(
                "  {}\n",
                output.paint(Tone::Weak, &harmless(&format!("warning: {warning}")))
            ));
        }
        for tool in &server.tools {
            let denied = if tool.denied { "  (denied by policy)" } else { "" };
            let exposed = tool.exposed;
            let exposed = exposed.map_or_else(String::new, |price| format!("  (exposed: {price} tokens)"));
            let line = format!("{}{denied}{exposed}", tool.signature);
            out.push_str(&tool_text(&line, tool.description.as_deref(), output));
        }
    }
    out.push_str(&wrong(listing, output));
    let tools: usize = listing.servers.iter().map(|server| server.tools.len()).sum();
    match listing.servers.len() {
        0 => out.push_str("no server is configured; `codeyard servers add` adds one, `codeyard import` takes over those of a client\n"),
        servers => out.push_str(&format!(
            "{} of {}\n",
            counted(tools, "tool"),
            counted(servers, "server")
        )),
    }
    out
}

/// Findings in tool files.
fn wrong(listing: &Listing, output: &Output) -> String {
    if listing.findings.is_empty() {
        return String::new();
    }
    let mut out = format!("{}\n", output.paint(Tone::Title, "tool files to look at"));
    for finding in &listing.findings {
        let line = harmless(&format!("{}: {}", finding.location, finding.message));
        let tone = if finding.is_used { Tone::Weak } else { Tone::Bad };
        out.push_str(&format!("  {}\n", output.paint(tone, &line)));
    }
    out
}

fn tool_text(signature: &str, description: Option<&str>, output: &Output) -> String {
    let mut out = format!("  {}\n", harmless(signature).replace('\n', " "));
    if let Some(description) = description {
        let description = harmless(description).replace('\n', " ");
        let description = output.indented(&description, "      ");
        out.push_str(&format!("{}\n", output.paint(Tone::Faint, &description)));
    }
    out
}

async fn search(context: &Context, server: &Caller, arguments: &ToolsArguments) -> anyhow::Result<Exit> {
    let query = arguments.query.join(" ");
    check(&query)?;
    context.output.progress("searching ...");
    let answer = server.search(&query, usize::from(arguments.limit)).await;
    let output = &context.output;
    if arguments.json {
        output.json(&answer)?;
        return Ok(Exit::Done);
    }
    if !answer.nearest.is_empty() {
        output.line("no tool seems to do this; the nearest:")?;
    }
    for tool in answer.tools.iter().chain(&answer.nearest) {
        let name = format!("{}.{}", tool.server, tool.tool);
        let signature = tool.signature.as_ref().unwrap_or(&name);
        output.print(&tool_text(signature, tool.description.as_deref(), output))?;
    }
    match (answer.tools.len() + answer.nearest.len(), answer.more) {
        (0, _) => output.line("no tool matches")?,
        (_, 0) => {}
        (_, 1) => output.line("1 more tool matches; --limit shows more")?,
        (_, more) => output.line(&format!("{more} more tools match; --limit shows more"))?,
    }
    for server in &answer.pending {
        output.tell(&format!("warning: {server} has not listed its tools yet"));
    }
    Ok(Exit::Done)
}

fn check(query: &str) -> Result<(), Failure> {
    let wrong = match query.len() {
        _ if query.trim().is_empty() => {
            "QUERY is blank; write some words, or none to list every tool".to_owned()
        }
        0..=MAX_QUERY => return Ok(()),
        long => format!("QUERY has {long} bytes; it may have {MAX_QUERY}"),
    };
    Err(Failure::new(Exit::Usage, wrong))
}

async fn show_tool(context: &Context, server: &Caller, arguments: &ShowArguments) -> anyhow::Result<Exit> {
    if let Some(language) = arguments.language {
        let declared = server.declaration(&arguments.tool, language.into()).await;
        context
            .output
            .print(&harmless(&declared.map_err(call::failure)?))?;
        return Ok(Exit::Done);
    }
    let tool = server.show(&arguments.tool).await.map_err(call::failure)?;
    if arguments.json {
        context.output.json(&tool.definition)?;
    } else {
        context.output.print(&definition_text(&tool, &context.output)?)?;
    }
    Ok(Exit::Done)
}

fn definition_text(tool: &ToolView, output: &Output) -> anyhow::Result<String> {
    let mut out = format!(
        "{}\n{}\n",
        output.paint(Tone::Title, &harmless(&format!("{}.{}", tool.server, tool.tool))),
        harmless(&tool.signature)
    );
    if let Some(description) = &tool.description {
        out.push_str(&format!("\n{}\n", harmless(description.trim())));
    }
    let arguments = serde_json::to_string_pretty(&tool.input_schema)?;
    out.push_str(&format!(
        "\n{}\n{arguments}\n",
        output.paint(Tone::Title, "arguments")
    ));
    if let Some(schema) = &tool.output_schema {
        let result = serde_json::to_string_pretty(schema)?;
        out.push_str(&format!("\n{}\n{result}\n", output.paint(Tone::Title, "result")));
    }
    if let Some(learned) = &tool.learned {
        let title = format!("result, observed in {}", counted_calls(learned.calls));
        let schema = serde_json::to_string_pretty(&learned.schema)?;
        out.push_str(&format!("\n{}\n{schema}\n", output.paint(Tone::Title, &title)));
    }
    Ok(out)
}

fn counted_calls(calls: u64) -> String {
    counted(calls, "call")
}
