//! The state of each definition of a tool with its unwritten part; used on its own thread.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use catalog::{CALLS_UNTIL_STABLE, Drift, Learned, declared_drift, other_block_kinds, program_value};
use serde_json::Value;
use serde_json::value::RawValue;
use store::learned::{Everything, Observed, Subject};

use super::known::{Sampling, Tool, Tools, put};
use super::{Job, SharedLearner};

/// Limit on reported differences of one tool.
const MOST_DRIFT: usize = 64;
/// Limit on distinct arguments of one tool.
const MOST_ARGUMENTS: usize = 256;

/// Whether the database stores what is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Memory,
    Database,
}

#[derive(Debug, Default)]
pub(super) struct States {
    states: HashMap<Subject, DefinitionState>,
}

/// The unwritten part of one definition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unwritten {
    learned: Learned,
    /// Calls with new arguments.
    confirming: u64,
}

#[derive(Debug, Default)]
struct DefinitionState {
    /// Written and unwritten observations together.
    known: Option<Arc<Learned>>,
    fresh: Option<Unwritten>,
    /// The tool declares its results.
    is_declared: bool,
    /// Answers observed since the last change of shape. If the tool declares its results, all answers observed.
    looked: u64,
    /// Hashes of the arguments since that change. Empty if another process saw the change, because its arguments are
    /// unknown.
    arguments: HashSet<u64>,
    told: HashSet<Drift>,
    sampling: Arc<Sampling>,
}

struct AnswerFacts {
    drift: Vec<Drift>,
    /// Absent if the tool declares its results.
    call: Option<Learned>,
}

// === impl States ===

impl States {
    /// Observes one answer and publishes the result; `true` if the shape changed.
    pub(super) fn take_in(&mut self, shared: &SharedLearner, job: Job, storage: Storage) -> bool {
        shared.release(job.answer.get().len());
        let entry = &job.entry;
        let subject = Subject {
            principal: job.whose.0.clone(),
            server: entry.tool.server.clone(),
            tool: entry.tool.tool.clone(),
            definition: entry.fingerprint().to_owned(),
        };
        let state = self.states.entry(subject.clone()).or_default();
        let declared = entry.definition.output_schema();
        let Some(looked) = state.look_at(&job.answer, declared.as_ref()) else {
            return false;
        };
        for drift in &looked.drift {
            if state.is_news(drift) {
                let kind = drift.kind.name();
                shared.records.drifted(&job.run, &entry.tool, kind, &drift.path);
            }
        }
        let has_changed = state.take_in(looked.call, job.arguments, storage);
        let gone = shared.known.put(&subject, state.tool(&subject));
        if let Some(definition) = gone {
            let definition = definition.to_string();
            self.states.remove(&Subject {
                definition,
                ..subject
            });
        }
        has_changed
    }

    /// Drops the unwritten part, after a request to forget everything.
    pub(super) fn forget_fresh(&mut self) {
        for state in self.states.values_mut() {
            state.fresh = None;
            state.arguments.clear();
        }
    }

    /// Merges the observations of other processes; returns the merged knowledge.
    pub(super) fn read(&mut self, all: Everything) -> Tools {
        let mut before = HashMap::new();
        for (subject, state) in &mut self.states {
            before.extend(state.known.take().map(|known| (subject.clone(), known)));
        }
        let mut order = Vec::with_capacity(all.rows.len());
        for row in all.rows {
            order.push(row.subject.clone());
            let before = before.get(&row.subject);
            let state = self.states.entry(row.subject).or_default();
            let known = learned(row.observed);
            let known = match &state.fresh {
                Some(fresh) => fresh.after(&known),
                None => known,
            };
            if before.is_some_and(|before| before.schema != known.schema) {
                state.arguments.clear();
            }
            state.known = Some(Arc::new(known));
        }
        let rest = self.states.iter_mut().filter(|(_, state)| state.known.is_none());
        for (subject, state) in rest {
            state.known = state.fresh.as_ref().map(|fresh| Arc::new(fresh.learned.clone()));
            order.push(subject.clone());
        }
        let mut tools = Tools::new();
        for subject in &order {
            let Some(state) = self.states.get(subject) else {
                continue;
            };
            state.settle();
            // For a tool that declares its results, only this process has a state.
            let is_gone = state.known.is_none() && !state.is_declared;
            let gone = match is_gone {
                true => Some(subject.clone()),
                false => put(&mut tools, subject, state.tool(subject)).map(|definition| Subject {
                    definition: definition.to_string(),
                    ..subject.clone()
                }),
            };
            if let Some(gone) = gone {
                self.states.remove(&gone);
            }
        }
        tools
    }

    pub(super) fn fresh(&self) -> Vec<(Subject, Unwritten)> {
        let states = self.states.iter();
        let fresh = states.filter_map(|(subject, state)| Some((subject.clone(), state.fresh.clone()?)));
        fresh.collect()
    }

    /// Replaces the knowledge of this subject by the written row.
    pub(super) fn wrote(&mut self, shared: &SharedLearner, subject: &Subject, known: Observed) {
        let Some(state) = self.states.get_mut(subject) else {
            return;
        };
        state.fresh = None;
        let known = learned(known);
        if state
            .known
            .as_ref()
            .is_some_and(|before| before.schema != known.schema)
        {
            state.arguments.clear();
        }
        state.known = Some(Arc::new(known));
        state.settle();
        // The definition is already stored, so no definition is displaced.
        let _ = shared.known.put(subject, state.tool(subject));
    }
}

// === impl Unwritten ===

impl Unwritten {
    /// Merges both.
    fn after(&self, known: &Learned) -> Learned {
        known.merge_confirmed(&self.learned, self.confirming)
    }
}

/// Merges a row with the unwritten part.
pub(super) fn merged(stored: Option<Observed>, fresh: &Unwritten) -> Observed {
    let merged = match stored {
        Some(stored) => fresh.after(&learned(stored)),
        None => fresh.learned.clone(),
    };
    Observed {
        shape: merged.schema,
        calls: merged.calls,
        steady: merged.steady,
    }
}

// === impl DefinitionState ===

impl DefinitionState {
    /// Whether this difference is new.
    fn is_news(&mut self, drift: &Drift) -> bool {
        self.told.len() < MOST_DRIFT && self.told.insert(drift.clone())
    }

    /// The type or difference that an answer reveals, if any.
    fn look_at(&self, answer: &RawValue, declared: Option<&Value>) -> Option<AnswerFacts> {
        let value = program_value(answer)?;
        if let Some(schema) = declared {
            return Some(AnswerFacts {
                drift: declared_drift(schema, &value),
                call: None,
            });
        }
        let known = self.known.as_ref();
        let settled = known.filter(|known| known.is_settled() || self.looked >= CALLS_UNTIL_STABLE);
        Some(AnswerFacts {
            drift: settled.map_or_else(Vec::new, |known| known.drift(&value)),
            call: Some(Learned::of(&value).with_blocks(other_block_kinds(answer))),
        })
    }

    /// Adds one observation; returns `true` if the shape changed.
    fn take_in(&mut self, call: Option<Learned>, arguments: u64, storage: Storage) -> bool {
        let Some(call) = call else {
            self.is_declared = true;
            self.looked += 1;
            self.settle();
            return false;
        };
        // The first arguments may belong to the answer that changed the shape.
        let is_first = self.arguments.is_empty();
        let is_new = self.arguments.len() < MOST_ARGUMENTS && self.arguments.insert(arguments);
        let confirming = u64::from(is_new && !is_first);
        let known = match &self.known {
            Some(known) => known.merge_confirmed(&call, confirming),
            None => call.clone(),
        };
        let before = self.known.as_ref();
        let has_changed = before.is_none_or(|before| before.schema != known.schema);
        if has_changed {
            self.looked = 0;
            self.arguments = HashSet::from([arguments]);
        } else {
            self.looked += 1;
        }
        self.known = Some(Arc::new(known));
        if storage == Storage::Database {
            self.fresh = Some(match self.fresh.take() {
                Some(fresh) => Unwritten {
                    learned: fresh.learned.merge_confirmed(&call, confirming),
                    confirming: fresh.confirming + confirming,
                },
                None => Unwritten {
                    learned: call,
                    confirming,
                },
            });
        }
        self.settle();
        has_changed
    }

    fn settle(&self) {
        let is_settled =
            self.looked >= CALLS_UNTIL_STABLE || self.known.as_ref().is_some_and(|known| known.is_settled());
        self.sampling.is_settled.store(is_settled, Ordering::Relaxed);
    }

    fn tool(&self, subject: &Subject) -> Tool {
        Tool {
            definition: Arc::from(subject.definition.as_str()),
            learned: self.known.clone(),
            sampling: self.sampling.clone(),
        }
    }
}

fn learned(observed: Observed) -> Learned {
    Learned {
        schema: observed.shape,
        calls: observed.calls,
        steady: observed.steady,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn answer(state: &mut DefinitionState, value: &Value, arguments: u64) {
        let raw = to_raw_value(&json!({ "structuredContent": value })).expect("JSON");
        let looked = state.look_at(&raw, None).expect("a value");
        state.take_in(looked.call, arguments, Storage::Database);
    }

    fn check_steady(calls: &[(Value, u64)], steady: u64) {
        let mut state = DefinitionState::default();
        for (value, arguments) in calls {
            answer(&mut state, value, *arguments);
        }
        let known = state.known.as_deref().expect("a shape");
        assert_eq!(
            (known.calls, known.steady),
            (calls.len() as u64, steady),
            "{calls:?}"
        );
        let written = merged(None, state.fresh.as_ref().expect("a shape"));
        assert_eq!(written.steady, steady, "{calls:?}");
    }

    #[test]
    fn the_same_call_again_confirms_nothing() {
        let (short, long) = (json!({"id": 1}), json!({"id": 1, "phone": ""}));
        let same = |times| vec![(short.clone(), 1); times];
        check_steady(&same(1), 0);
        check_steady(&same(7), 0);
        let others: Vec<_> = (1..=7).map(|n| (short.clone(), n)).collect();
        check_steady(&others, 6);
        let mut changed = others.clone();
        changed.push((long, 9));
        check_steady(&changed, 0);
        changed.extend(others);
        check_steady(&changed, 7);
    }

    /// The state of a process that has read the row.
    fn after(observed: &Observed) -> DefinitionState {
        DefinitionState {
            known: Some(Arc::new(learned(Observed {
                shape: observed.shape.clone(),
                calls: observed.calls,
                steady: observed.steady,
            }))),
            ..DefinitionState::default()
        }
    }

    #[test]
    fn the_first_call_of_a_process_confirms_nothing() {
        let (value, mut row) = (json!({"id": 1}), None);
        let mut process = |calls: &[u64], steady: u64| {
            let mut state = row.as_ref().map_or_else(DefinitionState::default, after);
            for arguments in calls {
                answer(&mut state, &value, *arguments);
            }
            let written = merged(row.take(), state.fresh.as_ref().expect("a shape"));
            assert_eq!(written.steady, steady, "{calls:?}");
            row = Some(written);
        };
        process(&[1], 0);
        process(&[1], 0);
        process(&[1, 1], 0);
        process(&[1, 2, 3, 2], 2);
        process(&[4], 2);
    }

    #[test]
    fn a_tool_that_always_drifts_is_sampled_too() {
        let schema = json!({"type": "object", "required": ["id"]});
        let mut state = DefinitionState::default();
        for _ in 0..CALLS_UNTIL_STABLE {
            let raw = to_raw_value(&json!({"structuredContent": {}})).expect("JSON");
            let looked = state.look_at(&raw, Some(&schema)).expect("a value");
            assert_eq!(looked.drift.len(), 1);
            state.take_in(looked.call, 1, Storage::Database);
        }
        assert!(state.sampling.is_settled.load(Ordering::Relaxed));
    }
}
