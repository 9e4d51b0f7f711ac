//! `codeyard runs`: lists runs, shows one in full, or follows new ones.

mod replay;
mod savings;
mod show;
mod table;

use std::collections::HashMap;
use std::time::Duration;

use store::{Filter, Opened, Reader, RecordsConfig, RunDeeds, RunView, Trouble};

use crate::cli::{RunsArguments, RunsCommand};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::harmless;

/// Means the newest run.
const LAST: &str = "last";

/// Polling interval of the records.
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub async fn run(context: &Context, arguments: &RunsArguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Some(RunsCommand::Replay(arguments)) => return replay::run(context, arguments).await,
        Some(RunsCommand::Export(arguments)) => return replay::export(context, arguments).await,
        None => {}
    }
    let config = context.load_settings()?.records();
    if arguments.follow {
        return follow(context, &config, arguments).await;
    }
    let Opened::Open(mut reader) = Reader::open(&config, &crate::context::principal())
        .await
        .map_err(failure)?
    else {
        if let Some(id) = arguments.id.as_ref().filter(|id| *id != LAST) {
            return Err(unknown(id));
        }
        context.output.tell("nothing has been recorded yet");
        return Ok(Exit::Done);
    };
    if arguments.savings {
        return savings::show(context, &mut reader, arguments).await;
    }
    if let Some(asked) = &arguments.id {
        let id = resolved(&mut reader, asked).await?;
        let detail = reader.run(&id).await.map_err(failure)?;
        let detail = detail.ok_or_else(|| unknown(&id))?;
        show::detail(&context.output, &detail, arguments.json.into())?;
        return Ok(Exit::Done);
    }
    let filter = Filter {
        limit: Some(arguments.limit),
        ..filter(arguments)
    };
    let runs = reader.runs(&filter).await.map_err(failure)?;
    let deeds = reader.deeds(&runs).await.map_err(failure)?;
    if arguments.csv {
        table::csv(&context.output, &runs, &deeds)?;
    } else if arguments.json {
        for run in &runs {
            let deeds = deeds.get(&run.id);
            context.output.line(&show::json_with(run, deeds).to_string())?;
        }
    } else {
        show::list(&context.output, &runs, &deeds)?;
    }
    Ok(Exit::Done)
}

/// The handle of the run, for which `last` may stand.
async fn resolved(reader: &mut Reader, asked: &str) -> anyhow::Result<String> {
    let newest = match asked == LAST {
        true => reader.newest().await.map_err(failure)?,
        false => None,
    };
    Ok(newest.unwrap_or_else(|| asked.to_owned()))
}

fn filter(arguments: &RunsArguments) -> Filter {
    Filter {
        status: arguments.status.clone(),
        session: arguments.session.clone(),
        since_ms: arguments.since.map(|since| since.timestamp_millis()),
        ..Filter::default()
    }
}

fn unknown(id: &str) -> anyhow::Error {
    let message = format!(
        "no run `{}` is recorded; run `codeyard runs` to list them",
        harmless(id)
    );
    Failure::new(Exit::Usage, message).into()
}

fn failure(trouble: Trouble) -> Failure {
    Failure::new(Exit::Broken, trouble)
}

/// Prints runs as they begin and end, until a signal.
async fn follow(
    context: &Context,
    config: &RecordsConfig,
    arguments: &RunsArguments,
) -> anyhow::Result<Exit> {
    let interrupt = Interrupt::watch()?;
    let work = async {
        let mut follower = Follower::start(config).await?;
        loop {
            for (run, deeds) in follower.news(&filter(arguments)).await? {
                if arguments.json {
                    let json = show::json_with(&run, Some(&deeds));
                    context.output.line(&json.to_string())?;
                } else {
                    show::line(&context.output, &run, &deeds)?;
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    let done: anyhow::Result<Exit> = tokio::select! {
        done = work => done,
        () = interrupt.token.cancelled() => Ok(Exit::Done),
    };
    Ok(interrupt.exit(done?))
}

/// Runs get numbers before their commit, so a run can appear after later ones. The follower reads this many again.
const LATE: u32 = 500;

/// Remembers the printed runs.
struct Follower {
    config: RecordsConfig,
    reader: Option<Box<Reader>>,
    /// Highest number seen.
    last: i64,
    /// Number and status of runs printed or present at the start, as long as they can appear again.
    known: HashMap<String, (i64, String)>,
}

impl Follower {
    async fn start(config: &RecordsConfig) -> anyhow::Result<Follower> {
        let mut follower = Follower {
            config: config.clone(),
            reader: None,
            last: 0,
            known: HashMap::new(),
        };
        if let Some(reader) = follower.reader().await? {
            let newest = Filter {
                limit: Some(LATE),
                ..Filter::default()
            };
            let newest = reader.runs(&newest).await.map_err(failure)?;
            follower.learn(&newest);
        }
        Ok(follower)
    }

    /// Records these runs' status, and drops runs too old to appear again.
    fn learn(&mut self, runs: &[RunView]) {
        for run in runs {
            self.last = self.last.max(run.seq);
            self.known.insert(run.id.clone(), (run.seq, run.status.clone()));
        }
        let horizon = self.last - i64::from(LATE);
        self.known
            .retain(|_, (seq, status)| *seq > horizon || status == "running");
    }

    /// `None` until the records exist.
    async fn reader(&mut self) -> anyhow::Result<Option<&mut Reader>> {
        if self.reader.is_none()
            && let Opened::Open(reader) = Reader::open(&self.config, &crate::context::principal())
                .await
                .map_err(failure)?
        {
            self.reader = Some(reader);
        }
        Ok(self.reader.as_deref_mut())
    }

    /// Runs that began or ended since the last call, by start.
    async fn news(&mut self, filter: &Filter) -> anyhow::Result<Vec<(RunView, RunDeeds)>> {
        let runs = self.changed(filter).await?;
        let Some(reader) = self.reader().await? else {
            return Ok(Vec::new());
        };
        let mut deeds = match runs.as_slice() {
            [] => HashMap::new(),
            runs => reader.deeds(runs).await.map_err(failure)?,
        };
        let with_deeds = |run: RunView| {
            let deeds = deeds.remove(&run.id).unwrap_or_default();
            (run, deeds)
        };
        Ok(runs.into_iter().map(with_deeds).collect())
    }

    async fn changed(&mut self, filter: &Filter) -> anyhow::Result<Vec<RunView>> {
        let running = self.known.values().filter(|(_, status)| status == "running");
        let oldest = running.map(|(seq, _)| *seq).min();
        let horizon = self.last - i64::from(LATE);
        let after = oldest.map_or(horizon, |oldest| horizon.min(oldest - 1));
        let Some(reader) = self.reader().await? else {
            return Ok(Vec::new());
        };
        if !reader.has_changed().await.map_err(failure)? && oldest.is_none() {
            return Ok(Vec::new());
        }
        let since = Filter {
            after: Some(after),
            // A run's status may have changed since.
            status: None,
            ..filter.clone()
        };
        let mut runs = reader.runs(&since).await.map_err(failure)?;
        runs.reverse();
        let news = |run: &RunView| match self.known.get(&run.id) {
            None => true,
            Some((_, before)) => before == "running" && run.status != "running",
        };
        let is_wanted = |run: &RunView| filter.status.as_ref().is_none_or(|status| *status == run.status);
        let news: Vec<RunView> = runs
            .iter()
            .filter(|run| news(run) && is_wanted(run))
            .cloned()
            .collect();
        self.learn(&runs);
        Ok(news)
    }
}
