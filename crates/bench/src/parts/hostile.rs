//! The effect of one hostile session on 49 ordinary ones.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;
use test_support::ServerDefinition;

use super::clients::{execute, open};
use crate::figures::{Figure, Samples};
use crate::raw::Raw;
use crate::setting::Setting;

const ORDINARY: usize = 49;
/// Length of one round, with or without the hostile session.
const ROUND: Duration = Duration::from_millis(800);
/// Time for a hostile program to start, and for the host to recover from it.
const SETTLE: Duration = Duration::from_millis(300);
/// Rounds with and rounds without the hostile session.
const ROUNDS: usize = 2;
/// The p99 of the ordinary runs may grow by this factor.
const MOST: f64 = 1.5;
/// Longest life of a hostile program, in milliseconds; the benchmark kills it earlier.
const LIFE: u64 = 20_000;

const KINDS: [(&str, &str); 7] = [
    ("CPU burner", include_str!("hostile/burner.py")),
    ("forker", include_str!("hostile/forker.py")),
    ("disk writer", include_str!("hostile/writer.py")),
    ("memory filler", include_str!("hostile/filler.py")),
    ("frame flooder", include_str!("hostile/frames.py")),
    ("output flooder", include_str!("hostile/output.py")),
    ("thread maker", include_str!("hostile/threads.py")),
];

pub async fn measure(setting: &Setting) -> Result<Vec<Figure>> {
    let settings = format!("[sessions]\nmax = {}", ORDINARY + KINDS.len() * ROUNDS + 1);
    let codeyard = setting
        .codeyard()?
        .server("stub", &ServerDefinition::stub())
        .settings(&settings);
    let mut client = open(&codeyard)?;
    for number in 0..ORDINARY {
        execute(&mut client, &ordinary(number))?;
    }
    let mut figures = Vec::new();
    for (name, program) in KINDS {
        let (mut alone, mut beside) = (Samples::default(), Samples::default());
        for round in 0..ROUNDS {
            sample(&mut client, &mut alone)?;
            let session = format!("{name} {round}").replace(' ', "-");
            let arguments = json!({"code": program, "session": session, "timeout_ms": LIFE});
            let run = client.start("execute_code", &arguments)?;
            tokio::time::sleep(SETTLE).await;
            sample(&mut client, &mut beside)?;
            client.cancel(run)?;
            tokio::time::sleep(SETTLE).await;
        }
        let place = setting.placement;
        let alone = alone.figure(&format!("runs of 49 sessions, before the {name}"), place);
        let beside = beside.figure_over(&format!("runs of 49 sessions beside one {name}"), &alone);
        let beside = beside.tail_at_most_times(&alone, MOST);
        figures.extend([alone, beside]);
    }
    Ok(figures)
}

fn sample(client: &mut Raw, samples: &mut Samples) -> Result<()> {
    let started = Instant::now();
    for number in (0..ORDINARY).cycle() {
        samples.push(execute(client, &ordinary(number))?);
        if started.elapsed() > ROUND {
            break;
        }
    }
    Ok(())
}

fn ordinary(number: usize) -> serde_json::Value {
    json!({"code": "sum(range(100))", "session": format!("ordinary-{number}")})
}
