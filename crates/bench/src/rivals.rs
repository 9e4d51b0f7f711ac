//! The alternatives to Codeyard, alternating with Codeyard in one run, with the ratio of their times.
//!
//! `cargo xtask bench` installs the rivals below the target directory. A missing or broken rival is
//! skipped with its reason.

mod codeyard;
mod commands;
pub mod contender;
mod libraries;
mod servers;

use anyhow::Result;

use crate::figures::{Figure, Report, Samples, Skipped};
use crate::setting::Setting;

use self::contender::{Class, Contender, Entry, Operation, RivalDirectory};
use crate::placement::Placement;

/// Rounds; each takes one sample of every operation of every contender.
const ROUNDS: usize = 40;
const WARM_UP: usize = 3;

struct Row {
    name: String,
    class: Class,
    samples: [Samples; 3],
}

pub async fn measure(setting: &Setting) -> Result<Report> {
    let setting = setting.clone();
    // The clients block, and one contender drives its own runtime.
    tokio::task::spawn_blocking(move || in_turn(&setting)).await?
}

fn in_turn(setting: &Setting) -> Result<Report> {
    let stub = test_support::stub_server().to_string_lossy().into_owned();
    let rivals = RivalDirectory {
        directory: setting.rivals.clone().unwrap_or_default(),
        upstream: vec![stub, "stub".to_owned()],
    };
    let (mut standing, mut report) = (Vec::new(), Report::default());
    for entry in entries(setting, &rivals) {
        let warmed = entry.contender.and_then(warm_up);
        match warmed {
            Ok(contender) => standing.push((Row::new(entry.name, entry.class), contender)),
            Err(error) => report.skipped.push(skipped(entry.name, &error)),
        }
    }
    for _ in 0..ROUNDS {
        let (mut going, round) = (Vec::new(), std::mem::take(&mut standing));
        for (mut row, mut contender) in round {
            match row.sample(contender.as_mut()) {
                Ok(()) => going.push((row, contender)),
                Err(error) => report.skipped.push(skipped(row.name, &error)),
            }
        }
        standing = going;
    }
    let rows = standing.into_iter().map(|(row, _)| row).collect();
    report.figures = compare(rows, setting.placement);
    Ok(report)
}

/// Codeyard comes first, because all others are compared with it.
fn entries(setting: &Setting, rivals: &RivalDirectory) -> Vec<Entry> {
    let mut entries = codeyard::entries(setting, rivals);
    entries.extend(servers::entries(rivals));
    entries.extend(commands::entries(rivals));
    entries.extend(libraries::entries(rivals));
    entries
}

fn warm_up(mut contender: Box<dyn Contender>) -> Result<Box<dyn Contender>> {
    for _ in 0..WARM_UP {
        for what in Operation::ALL {
            contender.sample(what)?;
        }
    }
    Ok(contender)
}

fn skipped(name: String, error: &anyhow::Error) -> Skipped {
    let reason = format!("{error:#}");
    Skipped { name, reason }
}

/// Figures by operation, each compared with Codeyard's of its class.
fn compare(rows: Vec<Row>, placement: Placement) -> Vec<Figure> {
    let mut figures: [Vec<Figure>; 3] = Default::default();
    let mut own: Vec<(Class, usize, Figure)> = Vec::new();
    for row in rows {
        for ((index, samples), what) in row.samples.into_iter().enumerate().zip(Operation::ALL) {
            if samples.is_empty() {
                continue;
            }
            let figure = samples.figure(&format!("{}: {}", what.describe(), row.name), placement);
            let beside = own
                .iter()
                .find(|(class, at, _)| *class == row.class && *at == index);
            let figure = match beside {
                Some((_, _, codeyard)) => figure.beside(codeyard),
                None => {
                    own.push((row.class, index, figure.clone()));
                    figure
                }
            };
            figures[index].push(figure);
        }
    }
    figures.into_iter().flatten().collect()
}

impl Row {
    fn new(name: String, class: Class) -> Self {
        Self {
            name,
            class,
            samples: Default::default(),
        }
    }

    fn sample(&mut self, contender: &mut dyn Contender) -> Result<()> {
        for (samples, what) in self.samples.iter_mut().zip(Operation::ALL) {
            if let Some(took) = contender.sample(what)? {
                samples.push(took);
            }
        }
        Ok(())
    }
}
