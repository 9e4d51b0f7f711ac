//! This build against another: the same runs over the same pipes, alternating sample by sample.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use test_support::{Codeyard, ServerDefinition};

use super::clients::{execute, open};
use crate::figures::{Figure, Samples};
use crate::guests::SETTLE;
use crate::raw::Raw;
use crate::setting::Setting;

/// Time for the zygotes to start after the first answer.
const WARM: std::time::Duration = std::time::Duration::from_secs(2);
/// Live runs of one sample: single runs vary by more than the difference sought.
const RUNS: u32 = 10;
const CALLS: u32 = 50;
/// How much longer a live run may take than in the other build, in microseconds.
const MORE: f64 = 15.0;

struct Build {
    client: Raw,
    /// Its directories must outlive the client.
    _codeyard: Codeyard,
}

/// Differences of one kind, and their samples.
#[derive(Default)]
struct Pairs {
    before: Samples,
    now: Samples,
    difference: Samples,
}

pub async fn measure(setting: &Setting, before: &Path) -> Result<Vec<Figure>> {
    let mut builds = [Build::start(setting, Some(before))?, Build::start(setting, None)?];
    setting.placement.for_host()?;
    tokio::time::sleep(WARM).await;
    let (mut live, mut call, mut new) = (Pairs::default(), Pairs::default(), Pairs::default());
    for build in &mut builds {
        for _ in 0..RUNS {
            build.live()?;
        }
        build.call()?;
        build.new_session()?;
    }
    for round in 0..setting.samples {
        live.add(round, &mut builds, Build::live)?;
    }
    for round in 0..setting.samples.div_ceil(5).max(20) {
        call.add(round, &mut builds, Build::call)?;
    }
    for round in 0..setting.samples.div_ceil(2).max(20) {
        new.add(round, &mut builds, Build::new_session)?;
        tokio::time::sleep(SETTLE).await;
    }
    let mut figures = live.figures("live run over MCP stdio", setting, Some(MORE));
    figures.extend(call.figures("awaited call of a server", setting, None));
    figures.extend(new.figures("run in a new session over MCP stdio", setting, None));
    Ok(figures)
}

// === impl Build ===

impl Build {
    /// Starts a build on its own data directory, because the builds' records may differ in format.
    fn start(setting: &Setting, program: Option<&Path>) -> Result<Self> {
        let mut codeyard = setting.codeyard()?.server("s0", &ServerDefinition::stub());
        if let Some(program) = program {
            codeyard = codeyard.program(program);
        }
        setting.placement.for_children()?;
        let mut client = open(&codeyard)?;
        execute(&mut client, &calling(1))?;
        Ok(Self {
            client,
            _codeyard: codeyard,
        })
    }

    /// In microseconds.
    fn live(&mut self) -> Result<f64> {
        let program = json!({"code": "1 + 1"});
        let mut sum = 0.0;
        for _ in 0..RUNS {
            sum += micros(execute(&mut self.client, &program)?);
        }
        Ok(sum / f64::from(RUNS))
    }

    /// In microseconds.
    fn call(&mut self) -> Result<f64> {
        let empty = micros(execute(&mut self.client, &json!({"code": "1 + 1"}))?);
        let full = micros(execute(&mut self.client, &calling(CALLS))?);
        Ok((full - empty) / f64::from(CALLS))
    }

    /// In microseconds.
    fn new_session(&mut self) -> Result<f64> {
        let program = json!({"code": "print(1 + 1)", "session": "new"});
        Ok(micros(execute(&mut self.client, &program)?))
    }
}

// === impl Pairs ===

impl Pairs {
    /// The order of the builds alternates.
    fn add(
        &mut self,
        round: usize,
        builds: &mut [Build; 2],
        sample: impl Fn(&mut Build) -> Result<f64>,
    ) -> Result<()> {
        let [before, now] = builds;
        let (before, now) = if round.is_multiple_of(2) {
            let first = sample(before)?;
            (first, sample(now)?)
        } else {
            let first = sample(now)?;
            (sample(before)?, first)
        };
        self.before.push_number(before);
        self.now.push_number(now);
        self.difference.push_number(now - before);
        Ok(())
    }

    fn figures(self, name: &str, setting: &Setting, more: Option<f64>) -> Vec<Figure> {
        let place = setting.placement;
        let spread = self.difference.quartiles();
        let before = self.before.figure(&format!("{name}, the build before"), place);
        let now = self.now.figure_over(&format!("{name}, this build"), &before);
        let name = format!(
            "{name}: difference (the middle half of the pairs: {:+.1} to {:+.1} us)",
            spread[0], spread[1]
        );
        let difference = self.difference.figure(&name, place);
        let difference = match more {
            Some(more) => difference.at_most(more),
            None => difference,
        };
        vec![before, now, difference]
    }
}

fn micros(took: std::time::Duration) -> f64 {
    took.as_secs_f64() * 1e6
}

fn calling(calls: u32) -> Value {
    json!({"code": format!("for n in range({calls}):\n    await tools.s0.echo(message='x')")})
}
