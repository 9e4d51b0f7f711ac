//! The task `measure`: one process for each placement, then a table, JSON and a chart.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use crate::figures::Report;
use crate::parts::Part;
use crate::placement::{self, Placement};
use crate::setting::Setting;
use crate::{chart, promises, table};

/// Parts with a promise.
const PROMISED: [Part; 21] = [
    Part::Fresh,
    Part::Pool,
    Part::Live,
    Part::Call,
    Part::Stdio,
    Part::Bridge,
    Part::Typescript,
    Part::TypescriptMemory,
    Part::FirstAnswer,
    Part::Memory,
    Part::Throughput,
    Part::Gather,
    Part::Servers,
    Part::Records,
    Part::Http,
    Part::HttpClients,
    Part::Gateway,
    Part::GatewaySessions,
    Part::Pages,
    Part::Hostile,
    Part::Files,
];

/// Measures floors, promises and rivals alternately.
#[derive(Debug, Args)]
pub struct Measure {
    /// Measure only these parts.
    parts: Vec<Part>,
    /// Data directory with a managed environment.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Directory of the installed rivals.
    #[arg(long)]
    rivals: Option<PathBuf>,
    /// Another codeyard binary to compare with; measures nothing else unless parts are named.
    #[arg(long)]
    before: Option<PathBuf>,
    /// Samples of each figure: 300, with `--quick` 20.
    #[arg(long)]
    samples: Option<usize>,
    /// Measure every promise with few samples, in at most three minutes, and list those that are not kept.
    ///
    /// The exit code is 0 even if promises are not kept, unless measuring itself failed.
    #[arg(long, conflicts_with_all = ["parts", "before"])]
    quick: bool,
    /// With `--quick`: exit code 1 if a promise is not kept.
    #[arg(long, requires = "quick")]
    strict: bool,
    /// Write the figures as JSON to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Draw the comparison with the rivals into this SVG file.
    #[arg(long)]
    chart: Option<PathBuf>,
    /// Measure in one placement and print JSON; by default, start a process for each placement.
    #[arg(long, hide = true)]
    placement: Option<Placement>,
}

impl Measure {
    pub fn run(&self) -> Result<()> {
        match self.placement {
            Some(placement) => self.in_place(placement),
            None => self.everywhere(),
        }
    }

    /// Starts one process for each placement, because a process must be pinned before it starts anything.
    fn everywhere(&self) -> Result<()> {
        let mut report = Report::default();
        let used = |placement: &Placement| {
            self.parts()
                .iter()
                .any(|part| part.placements().contains(placement))
        };
        for placement in Placement::ALL.into_iter().filter(used) {
            eprintln!("measuring, {}…", placement.describe());
            report.extend(placement::in_process_of_its_own(placement)?);
        }
        table::print(&report);
        if let Some(path) = &self.json {
            let json = serde_json::to_vec_pretty(&report)?;
            std::fs::write(path, json).with_context(|| format!("write {}", path.display()))?;
        }
        if let Some(path) = &self.chart {
            let drawn = chart::draw(&report);
            std::fs::write(path, drawn).with_context(|| format!("write {}", path.display()))?;
        }
        if self.quick {
            let broken = promises::judge(&report)?;
            ensure!(broken == 0 || !self.strict, "{broken} promises are not kept");
        }
        Ok(())
    }

    fn in_place(&self, placement: Placement) -> Result<()> {
        let scratch = tempfile::tempdir()?;
        // The programs that receive these paths run in another directory.
        let absolute = |path: &PathBuf| std::path::absolute(path);
        let data = self.data.as_ref().map(absolute).transpose()?;
        let setting = Setting {
            data: data.unwrap_or_else(|| scratch.path().to_owned()),
            rivals: self.rivals.as_ref().map(absolute).transpose()?,
            placement,
            samples: self.samples.unwrap_or(if self.quick { 20 } else { 300 }),
            before: self.before.as_ref().map(absolute).transpose()?,
        };
        placement.for_children()?;
        let mut report = Report::default();
        for part in self.parts() {
            if part.placements().contains(&placement) {
                eprintln!("  {part:?}");
                report.extend(runtime(placement)?.block_on(part.measure(&setting))?);
            }
        }
        println!("{}", serde_json::to_string(&report)?);
        Ok(())
    }

    fn parts(&self) -> &[Part] {
        if self.quick {
            &PROMISED
        } else if self.parts.is_empty() && self.before.is_some() {
            &[Part::Before]
        } else if self.parts.is_empty() {
            Part::value_variants()
        } else {
            &self.parts
        }
    }
}

/// One thread where the host is pinned to one core, else tokio's default.
fn runtime(placement: Placement) -> Result<tokio::runtime::Runtime> {
    let mut builder = match placement {
        Placement::One | Placement::Two => tokio::runtime::Builder::new_current_thread(),
        Placement::Free => tokio::runtime::Builder::new_multi_thread(),
    };
    Ok(builder.enable_all().build()?)
}
