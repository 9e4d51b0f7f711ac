//! The task `measure`: a process for each placement, then table, JSON and chart.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::figures::Report;
use crate::parts::{Part, Setting};
use crate::place::{self, Placement};
use crate::{chart, table};

/// Measures floors, promises and rivals side by side.
#[derive(Debug, Args)]
pub struct Measure {
    /// Measure only these parts.
    parts: Vec<Part>,
    /// Data directory with a managed environment.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Directory in which the rivals are installed.
    #[arg(long)]
    rivals: Option<PathBuf>,
    /// Another codeyard binary: compares this build with it, measuring nothing else unless parts are named.
    #[arg(long)]
    before: Option<PathBuf>,
    /// Samples of each figure.
    #[arg(long, default_value_t = 300)]
    samples: usize,
    /// Write the figures as JSON to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Draw the comparison with the rivals into this SVG file.
    #[arg(long)]
    chart: Option<PathBuf>,
    /// Measure in one placement and print JSON; without it a process for each placement is started.
    #[arg(long, hide = true)]
    placement: Option<Placement>,
}

impl Measure {
    /// Measures what was asked for.
    pub fn run(&self) -> Result<()> {
        match self.placement {
            Some(placement) => self.in_place(placement),
            None => self.everywhere(),
        }
    }

    /// Starts one process for each placement: where it runs is decided before anything is started.
    fn everywhere(&self) -> Result<()> {
        let mut report = Report::default();
        let used = |placement: &Placement| {
            self.parts()
                .iter()
                .any(|part| part.placements().contains(placement))
        };
        for placement in Placement::ALL.into_iter().filter(used) {
            eprintln!("measuring, {}…", placement.describe());
            report.extend(place::in_process_of_its_own(placement)?);
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
        Ok(())
    }

    fn in_place(&self, placement: Placement) -> Result<()> {
        let scratch = tempfile::tempdir()?;
        // Programs that are given these paths run elsewhere.
        let absolute = |path: &PathBuf| std::path::absolute(path);
        let data = self.data.as_ref().map(absolute).transpose()?;
        let setting = Setting {
            data: data.unwrap_or_else(|| scratch.path().to_owned()),
            rivals: self.rivals.as_ref().map(absolute).transpose()?,
            placement,
            samples: self.samples,
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
        if self.parts.is_empty() && self.before.is_some() {
            &[Part::Before]
        } else if self.parts.is_empty() {
            Part::value_variants()
        } else {
            &self.parts
        }
    }
}

/// One thread where the host is pinned to one core, else as many as the program itself has.
fn runtime(placement: Placement) -> Result<tokio::runtime::Runtime> {
    let mut builder = match placement {
        Placement::One | Placement::Two => tokio::runtime::Builder::new_current_thread(),
        Placement::Free => tokio::runtime::Builder::new_multi_thread(),
    };
    Ok(builder.enable_all().build()?)
}
