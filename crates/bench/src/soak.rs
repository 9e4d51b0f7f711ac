//! The task `soak`: thousands of sessions, runs and kills of the real program, to detect growth and leftovers.

mod gateway_kills;
mod gauges;
mod hostile_user;
mod hub;
mod installation;
mod isolation;
mod kills;
mod machine_state;
mod mixed;
mod phases;
mod programs;
mod recorded_runs;
mod scale;
mod slope;
mod watch;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use fastrand::Rng;

use kills::Promise;
use scale::Scale;
use watch::Verdict;

/// Opens, uses and closes thousands of sessions, kills codeyard, and reports growth and leftovers.
#[derive(Debug, Args)]
pub struct Soak {
    /// A tenth of all numbers, for some minutes.
    #[arg(long)]
    short: bool,
    /// Repeat all phases until this many seconds have passed.
    #[arg(long, default_value_t = 0)]
    seconds: u64,
    /// Seed of the random choices; printed, so that a soak can be repeated.
    #[arg(long)]
    seed: Option<u64>,
    /// Mixed runs, or random operations, of all clients together.
    #[arg(long)]
    runs: Option<u32>,
    /// Clients at once. With one, a seed repeats `isolation` exactly.
    #[arg(long)]
    clients: Option<u32>,
    /// Kills of codeyard.
    #[arg(long)]
    kills: Option<u32>,
    /// Data directory with a managed environment.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Phases, in this order; all if none is named.
    phases: Vec<Phase>,
}

/// One part of the soak, with its own installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Phase {
    /// Sessions opened and closed.
    Churn,
    /// Sessions idle at once.
    Idle,
    /// Runs of every kind by several clients at once.
    Mixed,
    /// Codeyard killed under load.
    Kills,
    /// Many servers, some of them bad, called by many sessions.
    Hub,
    /// Random operations of two groups of users on a gateway; neither group may see the other.
    Isolation,
    /// `codeyard serve` killed under load, alone and as one of two.
    GatewayKills,
    /// Postgres killed under load.
    DatabaseKills,
    /// 49 users of a gateway beside one hostile user.
    HostileUser,
}

impl Soak {
    /// The error names growth and leftovers.
    pub fn run(&self) -> Result<()> {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
        println!("seed {seed}: repeat these choices with `--seed {seed}`");
        let scratch = tempfile::tempdir()?;
        let data = self.data.clone().unwrap_or_else(|| scratch.path().to_owned());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let failed = runtime.block_on(self.all(&data, Rng::with_seed(seed)))?;
        if failed.is_empty() {
            println!("nothing grew and nothing was left");
            return Ok(());
        }
        bail!("{}", failed.join("\n"))
    }

    fn scale(&self) -> Scale {
        let scale = if self.short { Scale::SHORT } else { Scale::WHOLE };
        Scale {
            runs: self.runs.unwrap_or(scale.runs),
            kills: self.kills.unwrap_or(scale.kills),
            clients: self.clients.unwrap_or(scale.clients),
            ..scale
        }
    }

    /// Repeats the phases until this many seconds have passed; returns the failures.
    async fn all(&self, data: &Path, mut rng: Rng) -> Result<Vec<String>> {
        let started = Instant::now();
        let scale = self.scale();
        let phases = if self.phases.is_empty() {
            Phase::value_variants()
        } else {
            &self.phases
        };
        let mut wrong = Vec::new();
        loop {
            for phase in phases {
                for verdict in phase.run(data, scale, &mut rng).await? {
                    wrong.extend(report(verdict));
                }
            }
            if started.elapsed() >= Duration::from_secs(self.seconds) {
                return Ok(wrong);
            }
        }
    }
}

impl Phase {
    async fn run(self, data: &Path, scale: Scale, rng: &mut Rng) -> Result<Vec<Verdict>> {
        Ok(match self {
            Phase::Churn => vec![phases::churn(data, scale, rng).await?],
            Phase::Idle => vec![phases::idle(data, scale).await?],
            Phase::Mixed => vec![mixed::mixed(data, scale, rng).await?],
            Phase::Hub => vec![hub::hub(data, scale, rng).await?],
            Phase::Isolation => vec![isolation::random_operations(scale, rng).await?],
            Phase::GatewayKills => {
                let alone = scale.kills / 2;
                vec![
                    gateway_kills::alone(alone, rng).await?,
                    gateway_kills::one_of_two(scale.kills - alone, rng).await?,
                ]
            }
            Phase::DatabaseKills => vec![gateway_kills::database(scale.kills.div_ceil(5), rng).await?],
            Phase::HostileUser => vec![hostile_user::hostile_user(scale, rng).await?],
            Phase::Kills => {
                let required = scale.kills / 2;
                vec![
                    kills::kills(data, scale.kills - required, Promise::Behind, rng).await?,
                    kills::kills(data, required, Promise::Required, rng).await?,
                ]
            }
        })
    }
}

/// Returns the phase's failures.
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
