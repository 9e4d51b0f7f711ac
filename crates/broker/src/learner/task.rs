//! The task that looks at answers, merges their shapes and writes them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use catalog::{Drift, Learned, SETTLED, declared_drift, seen};
use serde_json::Value;
use serde_json::value::RawValue;
use store::learned::{Mark, Observed, Subject, Written};
use store::{Shapes, Trouble};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use types::ToolRef;

use super::known::{Known, Sampling, Tool, Tools, Whose};
use super::{Job, Message, Shared};

/// How long a new shape waits to be written, for others that come with it.
const SOON: Duration = Duration::from_millis(50);
/// How long a number of calls waits.
const LATER: Duration = Duration::from_secs(2);
/// Between two attempts to write to a database that could not be written.
const RETRY: Duration = Duration::from_secs(10);
/// Answers above this many bytes are looked at on a thread for such work.
const LIGHT: usize = 32 * 1024;
/// Differences of one tool that are told.
const MOST_DRIFT: usize = 64;

/// Looks at answers.
pub(super) struct Task {
    shared: Arc<Shared>,
    shapes: Option<Shapes>,
    states: HashMap<Subject, State>,
    /// As it was read last.
    forgotten: i64,
    mark: Mark,
    /// When what is new is written.
    due: Option<Instant>,
    is_told_of_trouble: bool,
}

/// What is known of one definition of a tool.
#[derive(Debug, Default)]
struct State {
    /// What is written, and what is not yet.
    known: Option<Learned>,
    fresh: Option<Learned>,
    /// Answers in a row that were as the tool declares them.
    fitting: u64,
    told: HashSet<Drift>,
    sampling: Arc<Sampling>,
}

/// What one answer tells.
struct Looked {
    drift: Vec<Drift>,
    /// Absent if the tool declares its results.
    call: Option<Learned>,
}

// === impl Task ===

impl Task {
    pub(super) fn new(shared: Arc<Shared>) -> Task {
        let shapes = shared.learning.file.clone().map(Shapes::new);
        Task {
            shared,
            shapes,
            states: HashMap::new(),
            forgotten: 0,
            mark: Mark::default(),
            due: None,
            is_told_of_trouble: false,
        }
    }

    pub(super) async fn run(mut self, mut messages: mpsc::Receiver<Message>) {
        self.look().await;
        self.publish();
        loop {
            let due = self.due.unwrap_or_else(|| Instant::now() + LATER);
            tokio::select! {
                message = messages.recv() => match message {
                    Some(Message::Answered(job)) => self.take_in(*job).await,
                    Some(Message::Look) => self.look().await,
                    Some(Message::Close) | None => break,
                },
                () = sleep_until(due), if self.due.is_some() => self.write().await,
            }
        }
        self.write().await;
        if let Some(shapes) = &self.shapes {
            shapes.close().await;
        }
    }

    async fn take_in(&mut self, job: Job) {
        let Job {
            whose,
            entry,
            run,
            answer,
        } = job;
        let subject = Subject {
            principal: whose.0.to_string(),
            server: entry.tool.server.clone(),
            tool: entry.tool.tool.clone(),
            definition: entry.fingerprint().to_owned(),
        };
        let known = self.states.get(&subject).and_then(|state| state.known.clone());
        let declared = entry.definition.output_schema();
        let bytes = answer.get().len();
        let looked = if bytes <= LIGHT {
            look_at(&answer, declared.as_ref(), known.as_ref())
        } else {
            let work = move || look_at(&answer, declared.as_ref(), known.as_ref());
            tokio::task::spawn_blocking(work).await.unwrap_or_default()
        };
        self.shared.release(bytes);
        let Some(looked) = looked else { return };
        let state = self.states.entry(subject).or_default();
        for drift in &looked.drift {
            if state.is_news(drift) {
                let (records, kind) = (&self.shared.records, drift.kind.name());
                records.drifted(&run, &entry.tool, kind, &drift.path);
            }
        }
        let has_changed = state.take_in(looked);
        let wait = if has_changed { SOON } else { LATER };
        let due = Instant::now() + wait;
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
        if has_changed {
            self.publish();
        }
    }

    /// Reads what other processes have learned or forgotten.
    async fn look(&mut self) {
        let Some(shapes) = self.shapes.clone() else { return };
        match shapes.mark().await {
            Ok(mark) if mark == self.mark => {}
            Ok(mark) => {
                self.mark = mark;
                self.read(&shapes).await;
            }
            Err(trouble) => self.tell(&trouble),
        }
    }

    async fn read(&mut self, shapes: &Shapes) {
        let all = match shapes.all().await {
            Ok(all) => all,
            Err(trouble) => return self.tell(&trouble),
        };
        let is_forgotten = all.forgotten != self.forgotten;
        self.forgotten = all.forgotten;
        for state in self.states.values_mut() {
            state.known = None;
            if is_forgotten {
                state.fresh = None;
            }
        }
        for row in all.rows {
            let state = self.states.entry(row.subject).or_default();
            state.known = Some(learned(row.observed));
        }
        for state in self.states.values_mut() {
            state.known = match (state.known.take(), &state.fresh) {
                (Some(known), Some(fresh)) => Some(known.merge(fresh)),
                (known, fresh) => known.or_else(|| fresh.clone()),
            };
            state.settle();
        }
        self.publish();
    }

    /// Writes what is new.
    async fn write(&mut self) {
        self.due = None;
        let Some(shapes) = self.shapes.clone() else {
            return self.publish();
        };
        let fresh: Vec<(Subject, Observed)> = self
            .states
            .iter()
            .filter_map(|(subject, state)| Some((subject.clone(), observed(state.fresh.clone()?))))
            .collect();
        if fresh.is_empty() {
            return;
        }
        match shapes.merge(&fresh, self.forgotten, merged).await {
            Ok(Written::Merged(known)) => {
                for ((subject, _), known) in fresh.into_iter().zip(known) {
                    let state = self.states.entry(subject).or_default();
                    state.fresh = None;
                    state.known = Some(learned(known));
                    state.settle();
                }
                self.is_told_of_trouble = false;
                self.publish();
            }
            Ok(Written::Forgotten) => self.read(&shapes).await,
            Err(trouble) => {
                self.tell(&trouble);
                self.due = Some(Instant::now() + RETRY);
            }
        }
    }

    fn tell(&mut self, trouble: &Trouble) {
        if !std::mem::replace(&mut self.is_told_of_trouble, true) {
            tracing::warn!("what is learned of results is not kept: {trouble}");
        }
    }

    /// Lets everybody know.
    fn publish(&self) {
        let mut tools = Tools::new();
        for (subject, state) in &self.states {
            let tool = ToolRef::new(subject.server.as_str(), subject.tool.as_str());
            let whose = Whose(Arc::from(subject.principal.as_str()));
            tools
                .entry(whose)
                .or_default()
                .entry(tool)
                .or_default()
                .push(Tool {
                    definition: Arc::from(subject.definition.as_str()),
                    learned: state.known.clone().map(Arc::new),
                    sampling: state.sampling.clone(),
                });
        }
        self.shared.known.send_replace(Known {
            is_loaded: true,
            tools: Arc::new(tools),
        });
    }
}

// === impl State ===

impl State {
    /// Whether this difference was not told yet.
    fn is_news(&mut self, drift: &Drift) -> bool {
        self.told.len() < MOST_DRIFT && self.told.insert(drift.clone())
    }

    /// `true` if the shape is another one now.
    fn take_in(&mut self, looked: Looked) -> bool {
        let Some(call) = looked.call else {
            let was_new = self.fitting == 0;
            self.fitting = if looked.drift.is_empty() {
                self.fitting + 1
            } else {
                0
            };
            self.settle();
            return was_new;
        };
        let merge = |known: &Option<Learned>| match known {
            Some(known) => known.merge(&call),
            None => call.clone(),
        };
        let (known, fresh) = (merge(&self.known), merge(&self.fresh));
        let has_changed = self
            .known
            .as_ref()
            .is_none_or(|before| before.schema != known.schema);
        (self.known, self.fresh) = (Some(known), Some(fresh));
        self.settle();
        has_changed
    }

    fn settle(&mut self) {
        let is_settled = self.fitting >= SETTLED || self.known.as_ref().is_some_and(Learned::is_settled);
        self.sampling.is_settled.store(is_settled, Ordering::Relaxed);
    }
}

/// What an answer tells; `None` if that is nothing.
fn look_at(answer: &RawValue, declared: Option<&Value>, known: Option<&Learned>) -> Option<Looked> {
    let value = seen(answer)?;
    Some(match declared {
        Some(schema) => Looked {
            drift: declared_drift(schema, &value),
            call: None,
        },
        None => Looked {
            drift: known
                .filter(|known| known.is_settled())
                .map_or_else(Vec::new, |known| known.drift(&value)),
            call: Some(Learned::of(&value)),
        },
    })
}

fn learned(observed: Observed) -> Learned {
    Learned {
        schema: observed.shape,
        calls: observed.calls,
        steady: observed.steady,
    }
}

fn observed(learned: Learned) -> Observed {
    Observed {
        shape: learned.schema,
        calls: learned.calls,
        steady: learned.steady,
    }
}

fn merged(older: Observed, newer: &Observed) -> Observed {
    observed(learned(older).merge(&learned(newer.clone())))
}
