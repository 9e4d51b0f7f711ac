//! The demo's steps, in their order.

use std::fs;
use std::path::Path;

use accounting::Tokenizer;
use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use server::Caller;

use super::peer::{Exchange, Peer};
use super::show::Show;
use super::tokens;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// The first program, for sessions with pandas.
const OVERDUE: &str = include_str!("programs/overdue.py");
/// As [`OVERDUE`], with the standard library only.
const OVERDUE_PLAIN: &str = include_str!("programs/overdue_plain.py");
/// Charts the first program's result.
const CHART: &str = include_str!("programs/chart.py");
/// Prints what the session still holds.
const FOLLOW_UP: &str = include_str!("programs/follow_up.py");
/// Tries to escape.
const HOSTILE: &str = include_str!("programs/hostile.py");
/// Lists a session's packages beyond the standard library.
const INVENTORY: &str = include_str!("programs/inventory.py");

const CHART_FILE: &str = "codeyard-demo.png";

pub async fn play(output: &Output, mut peer: Peer, server: &Caller, out: &Path) -> anyhow::Result<Exit> {
    let loading = tokio::task::spawn_blocking(Tokenizer::load);
    let show = Show::new(output);
    let introduction = peer.open().await?;
    show.opening(&introduction)?;
    let libraries = completed(
        peer.call(json!({"code": INVENTORY, "session": "inventory"}))
            .await?,
    )?;
    let has = |name: &str| libraries.structured["result"][name] == true;

    let program = if has("pandas") { OVERDUE } else { OVERDUE_PLAIN };
    show.step(1, "one program reads, joins, updates and sends", program)?;
    let joined = completed(peer.execute(program).await?)?;
    let calls = server.host().recorded();
    show.result(&joined)?;

    let mut exchanges = Vec::new();
    if has("pandas") && has("matplotlib") {
        show.step(2, "a chart from what the session remembers", CHART)?;
        let charted = completed(peer.execute(CHART).await?)?;
        let file = save_chart(&charted, out)?;
        show.result(&charted)?;
        show.saved(&file)?;
        exchanges.push(charted);
    } else {
        show.left_out(2, "a chart from what the session remembers")?;
    }

    show.step(3, "a second question to the same session", FOLLOW_UP)?;
    let followed = completed(peer.execute(FOLLOW_UP).await?)?;
    show.result(&followed)?;
    exchanges.push(followed);

    show.step(4, "a hostile program gets nowhere", HOSTILE)?;
    let hostile = completed(peer.call(json!({"code": HOSTILE, "session": "hostile"})).await?)?;
    show.result(&hostile)?;
    if hostile.structured["result"]["got_through"] != json!([]) {
        return Err(Failure::new(
            Exit::Refused,
            "the sandbox does not hold: see the successful attacks above",
        )
        .into());
    }

    let listed = server.definitions().await;
    let tokenizer = loading.await??;
    let ours = tokens::of_programs(&tokenizer, &introduction, &[&joined]);
    let counted = tokio::task::spawn_blocking(move || {
        let direct = tokens::of_direct_calls(&tokenizer, &listed, &calls);
        (direct, calls)
    });
    let (direct, calls) = counted.await?;
    show.direct_calls(&calls)?;
    show.costs(&joined, ours, direct)?;
    show.times(&introduction, &joined, &exchanges, &hostile)?;
    Ok(Exit::Done)
}

/// The exchange, if its program completed; else an error with that run's exit code.
fn completed(exchange: Exchange) -> anyhow::Result<Exchange> {
    let exit = match exchange.structured["status"].as_str() {
        Some("completed") => return Ok(exchange),
        Some("refused") => Exit::Refused,
        _ => Exit::ProgramFailed,
    };
    Err(Failure::new(exit, exchange.read).into())
}

fn save_chart(charted: &Exchange, out: &Path) -> anyhow::Result<String> {
    let image = charted
        .images
        .first()
        .context("the chart did not come back as an image")?;
    let bytes = STANDARD.decode(image).context("the chart is damaged")?;
    fs::create_dir_all(out).with_context(|| format!("{} cannot be made", out.display()))?;
    let file = out.join(CHART_FILE);
    fs::write(&file, &bytes).with_context(|| format!("{} cannot be written", file.display()))?;
    Ok(format!("{} ({} bytes)", file.display(), bytes.len()))
}

/// The number of rows that a program reports.
pub fn processed(exchange: &Exchange) -> u64 {
    let result: &Value = &exchange.structured["result"];
    result["processed"].as_u64().unwrap_or_default()
}
