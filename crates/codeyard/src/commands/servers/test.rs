//! Starts one server alone and lists its tools.

use accounting::Tokenizer;
use environment::Machine;
use registry::DefinitionStatus;
use serde_json::json;
use server::Host;
use server::servers::TriedServer;
use types::numbers::counted;
use upstream_wire::Era;

use super::change::consented;
use super::definitions::find;
use crate::cli::ChangeServer;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::{OutputFormat, harmless};

pub(super) async fn run(
    context: &Context,
    change: &ChangeServer,
    format: OutputFormat,
) -> anyhow::Result<Exit> {
    let name = &change.name;
    let defined = find(context, name)?;
    let data = context.data_directory();
    let why = match defined.status {
        DefinitionStatus::Used
        | DefinitionStatus::Mistaken
        | DefinitionStatus::Unset
        | DefinitionStatus::Shadowed => None,
        DefinitionStatus::Disabled => Some(format!(
            "is disabled; `codeyard servers enable {name}` changes that"
        )),
        DefinitionStatus::Untrusted => {
            Some("is in a file that is not trusted; read it, then run `codeyard trust`".to_owned())
        }
        DefinitionStatus::Changed if consented(context, &defined, change.yes.into(), &data)? => None,
        DefinitionStatus::Changed => Some("was not started".to_owned()),
    };
    if let Some(why) = why {
        return Err(Failure::new(Exit::Usage, format!("`{name}` {why}")).into());
    }
    let mut loaded = context.load_and_tell()?;
    loaded.servers.retain(|server| server.name == *name);
    let Some(transport) = loaded.servers.first().map(|server| server.transport.name()) else {
        return Err(Failure::new(Exit::Usage, format!("`{name}` is not used; see the warnings")).into());
    };
    let mut parts = loaded.into_parts(context.program()?, &Machine);
    parts.upstream.asks_anew = true;
    let interrupt = Interrupt::watch()?;
    let host = Host::new(parts).map_err(|error| Failure::new(Exit::Usage, error))?;
    context.output.progress(&format!("starting `{name}`"));
    let tried = tokio::select! {
        tried = host.try_server(name) => Some(tried),
        () = interrupt.token.cancelled() => None,
    };
    host.close().await;
    let Some(tried) = tried else {
        return Ok(interrupt.exit(Exit::Done));
    };
    let tried = tried.map_err(|why| Failure::new(Exit::Upstream, why))?;
    show(context, transport, &tried, format)?;
    Ok(Exit::Done)
}

fn show(context: &Context, transport: &str, tried: &TriedServer, format: OutputFormat) -> anyhow::Result<()> {
    let offer = &tried.offer;
    let tools = offer.tools.as_deref().unwrap_or_default();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    let tokens = Tokenizer::load()?.definitions(tools);
    let output = &context.output;
    if format == OutputFormat::Json {
        return output.json(&json!({
            "name": offer.name,
            "transport": transport,
            "era": offer.era.map(Era::name),
            "tools": names,
            "tokens": tokens,
            "ms": tried.took.as_millis(),
            "warnings": offer.warnings,
        }));
    }
    let mut text = format!(
        "`{}` works: {transport}, era {}, {} with {tokens} tokens of definitions, ready after {} ms\n",
        offer.name,
        offer.era.map_or("unknown", Era::name),
        counted(names.len(), "tool"),
        tried.took.as_millis()
    );
    for name in &names {
        text.push_str(&format!("  {name}\n"));
    }
    output.print(&harmless(&text))?;
    for warning in &offer.warnings {
        output.tell(&format!("warning: {warning}"));
    }
    Ok(())
}
