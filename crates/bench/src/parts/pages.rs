//! A page of a million recorded runs of a virtual server, over REST.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use test_support::ServerDefinition;

use super::gateway::Admin;
use super::http;
use crate::figures::{Figure, Samples};
use crate::http_client::Listening;
use crate::setting::Setting;

/// Most microseconds for a page.
const MOST: f64 = 200_000.0;

/// Copies one run a million times.
const MULTIPLY: &str = include_str!("pages/multiply.py");

const SAMPLES: usize = 10;

pub async fn measure(setting: &Setting) -> Result<Vec<Figure>> {
    let codeyard = setting
        .codeyard()?
        .server("stub", &ServerDefinition::stub())
        .settings("[records]\nkeep_size = \"8 GiB\"");
    let listening = Listening::start(&codeyard, "serve")?;
    for client in &mut Admin::new(&codeyard, &listening)?.clients(1)? {
        let called = serde_json::json!({"code": "await tools.stub.echo(message='x')"});
        http::execute(client, &called)?;
    }
    listening.end()?;
    let minute = multiply(&codeyard.data_directory().join("codeyard.db"))?;
    let listening = Listening::start(&codeyard, "serve")?;
    let admin = Admin::new(&codeyard, &listening)?;
    // Each query with the number of runs on its first page.
    let pages = [
        ("all", "", 50),
        ("those of one user of a thousand", "&user=user7@example.com", 50),
        ("one in 2,000 by status", "&status=failed", 50),
        ("none by status", "&status=timed_out", 0),
        ("one in 10,000 by tool", "&tool=stub.echo", 50),
        ("those of a minute", &minute, 50),
    ];
    let mut figures = Vec::with_capacity(pages.len());
    for (name, query, expected) in pages {
        let path = format!("/servers/bench/code/runs?limit=50{query}");
        let mut client = admin.at(&path)?;
        let mut samples = Samples::default();
        for _ in 0..SAMPLES {
            let started = Instant::now();
            let page: Value = serde_json::from_str(&client.get(&path)?)?;
            samples.push(started.elapsed());
            let runs = page.as_array().context("a list")?.len();
            ensure!(runs == expected, "{path}: {runs} runs");
        }
        let name = format!("page of a million runs: {name}");
        figures.push(samples.figure(&name, setting.placement).at_most(MOST));
    }
    Ok(figures)
}

/// Copies the last run and call in a database; returns the query for the runs of one minute.
fn multiply(database: &Path) -> Result<String> {
    let made = Command::new("python3")
        .args(["-c", MULTIPLY])
        .arg(database)
        .output()?;
    let complaint = String::from_utf8_lossy(&made.stderr);
    ensure!(made.status.success(), "copying the runs failed: {complaint}");
    Ok(format!("&{}", String::from_utf8(made.stdout)?.trim()))
}
