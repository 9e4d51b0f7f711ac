//! The task `soak`: the real program under thousands of sessions and runs, and the proof that nothing grows and nothing is left.

mod census;
mod growth;
mod phases;
mod watch;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use watch::Verdict;

/// Opens, uses and closes sessions in thousands and looks at what grows and what is left.
#[derive(Debug, Args)]
pub struct Soak {
    /// A tenth of everything, for about a minute.
    #[arg(long)]
    short: bool,
    /// Repeat all of it until so many seconds have passed.
    #[arg(long, default_value_t = 0)]
    seconds: u64,
    /// Data directory with a managed environment.
    #[arg(long)]
    data: Option<PathBuf>,
}

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Sessions opened and closed.
    pub sessions: u32,
    /// Sessions idle at once.
    pub idle: u32,
    /// Runs of all clients together.
    pub runs: u32,
    /// Clients at once, each with a program of its own.
    pub clients: u32,
}

impl Scale {
    const WHOLE: Scale = Scale {
        sessions: 1000,
        idle: 1000,
        runs: 10_000,
        clients: 8,
    };
    const SHORT: Scale = Scale {
        sessions: 200,
        idle: 100,
        runs: 1000,
        clients: 8,
    };
}

impl Soak {
    /// Does all of it; an error names what grew or was left.
    pub fn run(&self) -> Result<()> {
        let scale = if self.short { Scale::SHORT } else { Scale::WHOLE };
        let scratch = tempfile::tempdir()?;
        let managed = self.data.clone();
        let data = managed.unwrap_or_else(|| scratch.path().to_owned());
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let failed = runtime.block_on(phases::until(self.seconds, &data, scale))?;
        if failed.is_empty() {
            println!("nothing grew and nothing was left");
            return Ok(());
        }
        bail!("{}", failed.join("\n"))
    }
}

/// Prints what a phase came to and gives what was wrong with it.
fn report(verdict: Verdict) -> Vec<String> {
    println!("{}", verdict.title);
    for (name, figure) in &verdict.figures {
        println!("  {name:<52} {figure}");
    }
    for wrong in &verdict.wrong {
        println!("  WRONG: {wrong}");
    }
    let title = verdict.title;
    verdict
        .wrong
        .into_iter()
        .map(|wrong| format!("{title}: {wrong}"))
        .collect()
}
