//! The cost of a record, in a file and on Postgres: a codeyard with records alternates with one without.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};
use test_support::{Codeyard, PostgresServer, ServerDefinition};

use super::clients::{execute, open};
use crate::figures::{Figure, Samples};
use crate::raw::Raw;
use crate::setting::Setting;

/// Runs of one sample. Rows are written after the runs; on the same core, this work must count.
const RUNS: u32 = 400;
const CALLS: u32 = 50;
/// Most microseconds for a record.
const MOST: f64 = 50.0;

struct Subject {
    name: &'static str,
    client: Raw,
    /// Its directories must outlive the client.
    _codeyard: Codeyard,
    runs: Samples,
    calls: Samples,
}

pub async fn measure(setting: &Setting) -> Result<Vec<Figure>> {
    let mut subjects = Vec::new();
    let server = PostgresServer::start()?;
    let url = server.make("yard")?;
    for (name, record, database) in [
        ("records off", "\"off\"", None),
        ("recorded", "\"shape\"", None),
        ("recorded on Postgres", "\"shape\"", Some(&url)),
        ("recorded, required", "\"required\"", None),
        ("recorded on Postgres, required", "\"required\"", Some(&url)),
    ] {
        subjects.push(Subject::start(setting, name, record, database)?);
    }
    setting.placement.for_host()?;
    for _ in 0..setting.samples.div_ceil(10).max(10) {
        for subject in &mut subjects {
            subject.measure()?;
        }
    }
    let mut figures: Vec<Figure> = Vec::new();
    for subject in subjects {
        let place = setting.placement;
        let runs = subject
            .runs
            .figure(&format!("live run over MCP stdio, {}", subject.name), place);
        let calls = subject
            .calls
            .figure(&format!("host call of a real server, {}", subject.name), place);
        let (runs, calls) = match (figures.first(), figures.get(1)) {
            (Some(run), Some(call)) => (beside(runs, run), beside(calls, call)),
            _ => (runs, calls),
        };
        figures.extend([runs, calls]);
    }
    Ok(figures)
}

/// Required records wait for the disk; no promise covers them.
fn beside(figure: Figure, off: &Figure) -> Figure {
    let figure = figure.beside(off);
    if figure.name.ends_with("required") {
        return figure;
    }
    figure.at_most_more(off, MOST)
}

// === impl Subject ===

impl Subject {
    fn start(
        setting: &Setting,
        name: &'static str,
        record: &str,
        database: Option<&String>,
    ) -> Result<Subject> {
        let mut codeyard = setting
            .codeyard()?
            .server("s0", &ServerDefinition::stub())
            .settings(&format!("[records]\nrecord = {record}"));
        if let Some(url) = database {
            codeyard = codeyard.env("CODEYARD_DATABASE_URL", url);
        }
        setting.placement.for_children()?;
        let mut client = open(&codeyard)?;
        execute(&mut client, &calling(1))?;
        Ok(Subject {
            name,
            client,
            _codeyard: codeyard,
            runs: Samples::default(),
            calls: Samples::default(),
        })
    }

    fn measure(&mut self) -> Result<()> {
        let nothing = json!({"code": "1 + 1"});
        let started = Instant::now();
        for _ in 0..RUNS {
            execute(&mut self.client, &nothing)?;
        }
        let run = started.elapsed() / RUNS;
        let full: Duration = execute(&mut self.client, &calling(CALLS))?;
        self.runs.push(run);
        self.calls.push(full.saturating_sub(run) / CALLS);
        Ok(())
    }
}

fn calling(calls: u32) -> Value {
    json!({"code": format!("for n in range({calls}):\n    await tools.s0.echo(message='x')")})
}
