//! Measures floors and promises side by side in one run: medians and p99, on one core and on two.
//!
//! Every subject is interleaved with its floor, because a shared machine drifts: only figures of one run compare.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program whose purpose is to print a table"
)]

mod clients;
mod echo;
mod figures;
mod guests;
mod place;
mod table;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;

use figures::Figure;
use place::Placement;

/// Measures Codeyard's promises beside their floors.
#[derive(Debug, Parser)]
struct Arguments {
    /// Measure only what has this in its name: fresh, live, call, stdio.
    name: Option<String>,
    /// Data directory with a managed environment.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Samples of each figure.
    #[arg(long, default_value_t = 300)]
    samples: usize,
    /// Write the figures as JSON to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Measure in one placement and print JSON; without it a process for each placement is started.
    #[arg(long, hide = true)]
    placement: Option<Placement>,
}

fn main() -> Result<()> {
    jail::dispatch();
    let arguments = Arguments::parse();
    match arguments.placement {
        Some(placement) => measure(&arguments, placement),
        None => all_placements(&arguments),
    }
}

/// Starts one process for each placement: where it runs is decided before anything is started.
fn all_placements(arguments: &Arguments) -> Result<()> {
    let mut figures: Vec<Figure> = Vec::new();
    for placement in Placement::ALL {
        eprintln!("measuring on {}…", placement.describe());
        figures.extend(place::in_process_of_its_own(placement)?);
    }
    table::print(&figures);
    if let Some(path) = &arguments.json {
        let json = serde_json::to_vec_pretty(&figures)?;
        std::fs::write(path, json).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

fn measure(arguments: &Arguments, placement: Placement) -> Result<()> {
    let wanted = |name: &str| arguments.name.as_deref().is_none_or(|asked| name.contains(asked));
    let scratch = tempfile::tempdir()?;
    let data = arguments
        .data
        .clone()
        .unwrap_or_else(|| scratch.path().to_owned());
    placement.for_children()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let figures = runtime.block_on(async {
        let mut figures = Vec::new();
        if wanted("fresh") || wanted("live") || wanted("call") {
            let bench = guests::Bench::new(&data, placement, arguments.samples).await?;
            if wanted("fresh") {
                figures.extend(bench.fresh().await?);
            }
            if wanted("live") {
                figures.extend(bench.live().await?);
            }
            if wanted("call") {
                figures.extend(bench.calls().await?);
            }
        }
        if wanted("stdio") {
            figures.extend(clients::over_stdio(&data, placement, arguments.samples).await?);
        }
        anyhow::Ok(figures)
    })?;
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}
