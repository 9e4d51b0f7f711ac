//! Random operations of two groups of users on two gateways, over every entry; neither group may see the other.
//!
//! The gateway has one tenant, so the groups are users of disjoint teams. A model holds what each user may see.
//! Secret words are planted in users' data, and every answer is searched for words of others.

mod actor;
mod foreign;
mod marker;
mod memory;
mod objects;
mod programs;
mod setup;
mod timing;
mod world;

use anyhow::Result;
use fastrand::Rng;
use tokio::task::JoinSet;

use actor::{Actor, Tally};
use setup::Setup;

/// The amount of work.
#[derive(Debug, Clone, Copy)]
pub struct IsolationScale {
    /// Operations of all clients together.
    pub operations: u32,
    /// Concurrent clients. With one client, a seed makes the test reproducible.
    pub clients: usize,
    /// Users of each group.
    pub members: usize,
    /// Pairs of requests of each kind whose times are compared.
    pub pairs: usize,
}

/// Measured figures, and violations.
#[derive(Debug, Default)]
pub struct IsolationReport {
    /// Names and values.
    pub figures: Vec<(String, String)>,
    /// Crossings, and answers that differ from the model.
    pub wrong: Vec<String>,
}

type Chance = (u32, &'static str);

/// Kinds of operations with their shares in percent.
const OPERATIONS: [Chance; 9] = [
    (30, "program"),
    (4, "long program"),
    (10, "files"),
    (22, "foreign or removed id"),
    (3, "cancellation of a foreign call"),
    (14, "list, record or export"),
    (8, "read of a server"),
    (5, "change of servers"),
    (4, "change of tokens"),
];

/// Runs the operations and compares response times.
///
/// # Errors
/// If the gateways do not start, or a request gets no answer.
pub async fn isolation(scale: IsolationScale, seed: u64) -> Result<IsolationReport> {
    let mut rng = Rng::with_seed(seed);
    let setup = Setup::start(scale.members, &mut rng).await?;
    let count = setup.world.members.len();
    let mut working = JoinSet::new();
    for client in 0..scale.clients {
        let members = (client..count).step_by(scale.clients).collect();
        let actor = Actor::new(&setup.world, rng.fork(), members);
        let share = scale.operations.div_ceil(u32::try_from(scale.clients)?);
        working.spawn(act(actor, share));
    }
    let mut tally = Tally::default();
    while let Some(done) = working.join_next().await {
        tally.add(done??);
    }
    let mut report = tally.report();
    if scale.pairs > 0 {
        for timing in timing::compare(&setup, scale.pairs, &mut rng).await? {
            let name = format!("time of {}", timing.name);
            if !timing.is_alike() {
                report.wrong.push(format!(
                    "{name}: response time distinguishes foreign from unknown: {}",
                    timing.show()
                ));
            }
            report.figures.push((name, timing.show()));
        }
    }
    setup.finish().await?;
    Ok(report)
}

async fn act(mut actor: Actor, operations: u32) -> Result<Tally> {
    // Each member's first operation creates something that others must not see.
    for played in 0..actor.played.len() {
        actor.create_server(played).await?;
    }
    for _ in 0..operations {
        actor.operate().await?;
    }
    Ok(actor.tally)
}

// === impl Actor ===

impl Actor {
    async fn operate(&mut self) -> Result<()> {
        let played = self.rng.usize(..self.played.len());
        let name = chosen(&mut self.rng);
        *self.tally.operations.entry(name).or_default() += 1;
        match name {
            "program" => self.run_program(played).await,
            "long program" => self.run_long(played).await,
            "files" => self.use_files(played).await,
            "foreign or removed id" => self.ask_foreign(played).await,
            "cancellation of a foreign call" => self.cancel_foreign(played).await,
            "list, record or export" => self.list(played).await,
            "read of a server" => self.read_server(played).await,
            "change of tokens" => self.change_tokens(played).await,
            _ if self.rng.bool() => self.create_server(played).await,
            _ => self.change_server(played).await,
        }
    }
}

fn chosen(rng: &mut Rng) -> &'static str {
    let mut left = rng.u32(..OPERATIONS.iter().map(|(share, _)| share).sum::<u32>());
    for (share, name) in OPERATIONS {
        match left.checked_sub(share) {
            Some(rest) => left = rest,
            None => return name,
        }
    }
    OPERATIONS[0].1
}

// === impl Tally ===

impl Tally {
    fn report(self) -> IsolationReport {
        let mut figures = Vec::new();
        let mut state = |name: &str, figure: String| figures.push((name.to_owned(), figure));
        state("operations", self.operations.values().sum::<u32>().to_string());
        for (name, count) in &self.operations {
            state(&format!("of them {name}"), count.to_string());
        }
        let statuses = self
            .statuses
            .iter()
            .map(|(status, count)| format!("{status}: {count}"));
        state("answers by status", statuses.collect::<Vec<_>>().join(", "));
        state("foreign ids compared with unknown ids", self.compared.to_string());
        state("comparisons prevented by rate limits", self.throttled.to_string());
        state("values read back", self.read_back.to_string());
        state("crossings and other violations", self.wrong_count.to_string());
        IsolationReport {
            figures,
            wrong: self.wrong,
        }
    }
}
