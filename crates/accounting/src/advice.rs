//! Finds the tools that a model should see and call itself, from the recorded costs of runs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use types::ToolRef;

use crate::difference;
use crate::estimates;
use crate::recorded::RunCost;

/// Fewest look-ups of a tool for a recommendation.
pub const MIN_LOOKUPS: u64 = 5;
/// A look-up returns at least this percentage of the answer. A program that returns less saved the
/// model tokens.
const MIN_RETURNED: u64 = 70;
/// The minimum without a receipt, because servers often send an answer twice: as text and as structured content.
const MIN_RETURNED_ESTIMATED: u64 = 50;

/// The recommended caller of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recommendation {
    /// The tool is already exposed.
    Exposed,
    /// The model itself.
    Direct,
    /// Programs.
    Program,
    /// Fewer than [`MIN_LOOKUPS`] look-ups.
    TooFew,
    /// Not listed, or denied by the policy, so the definition's cost is unknown.
    Unlisted,
}

/// Recorded costs of one tool. Tokens of o200k.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAdvice {
    /// The judged tool.
    pub tool: ToolRef,
    /// Tokens of the definition per session; `None` if never listed.
    pub definition: Option<u64>,
    /// Calls by programs.
    pub calls: u64,
    /// Number of look-ups.
    pub lookups: u64,
    /// Tokens that direct calls would have saved in all look-ups; negative if direct calls cost more.
    saved: i64,
    /// Tokens that exposing would have saved in all sessions, minus the definitions; `None` without look-ups.
    pub saved_in_all: Option<i64>,
    /// The recommended caller.
    pub recommendation: Recommendation,
}

/// Recorded costs of all tools, and the tools to expose. Tokens of o200k.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    tools: Vec<ToolAdvice>,
    /// Runs of models.
    pub runs: usize,
    /// Other runs.
    pub left_out: usize,
    /// Number of sessions.
    pub sessions: usize,
    /// Number of look-ups.
    pub lookups: u64,
    /// Look-ups without a receipt.
    pub estimated: u64,
    /// Cost of all look-ups by programs.
    by_programs: u64,
    /// Cost of all look-ups as direct calls.
    directly: u64,
    /// Maximum tokens of exposed tools' definitions.
    pub budget: u64,
    /// Known definitions of the tools that are already exposed.
    pub exposed: u64,
    /// Tools to expose, as `server.tool`, including tools that are already exposed. Empty if the latter alone
    /// exceed the budget.
    pub proposed: Vec<String>,
}

/// A run with one call, most of whose answer returned to the model. Tokens.
struct Lookup<'c> {
    tool: &'c ToolRef,
    by_program: u64,
    directly: u64,
    is_counted: bool,
}

// === impl Advice ===

impl Advice {
    /// `definitions` are the known tools with their tokens, `exposed` the tools that are already exposed.
    pub fn new(all: &[RunCost], definitions: &[(ToolRef, u64)], exposed: &[ToolRef], budget: u64) -> Advice {
        let known = definitions.iter().map(|(tool, definition)| {
            let advice = ToolAdvice::new(tool.clone(), Some(*definition));
            (tool.clone(), advice)
        });
        let mut tools: BTreeMap<ToolRef, ToolAdvice> = known.collect();
        for tool in exposed {
            entry(&mut tools, tool);
        }
        let costs: Vec<&RunCost> = all.iter().filter(|cost| cost.is_of_model()).collect();
        for calls in costs.iter().flat_map(|cost| &cost.calls) {
            entry(&mut tools, &calls.tool).calls += calls.calls;
        }
        let sessions: HashSet<i64> = costs.iter().map(|cost| cost.process).collect();
        let mut advice = Advice {
            tools: Vec::new(),
            runs: costs.len(),
            left_out: all.len() - costs.len(),
            sessions: sessions.len(),
            lookups: 0,
            estimated: 0,
            by_programs: 0,
            directly: 0,
            budget,
            exposed: 0,
            proposed: Vec::new(),
        };
        for lookup in costs.into_iter().filter_map(Lookup::of) {
            let tool = entry(&mut tools, lookup.tool);
            tool.lookups += 1;
            tool.saved += difference(lookup.by_program, lookup.directly);
            advice.lookups += 1;
            advice.estimated += u64::from(!lookup.is_counted);
            advice.by_programs += lookup.by_program;
            advice.directly += lookup.directly;
        }
        advice.tools = tools.into_values().collect();
        for tool in &mut advice.tools {
            tool.decide(sessions.len() as u64, exposed);
        }
        advice
            .tools
            .sort_by_key(|tool| Reverse((tool.saved_in_all.unwrap_or(i64::MIN), tool.calls)));
        advice.propose();
        advice
    }

    /// All tools, largest savings first.
    pub fn tools(&self) -> impl Iterator<Item = &ToolAdvice> {
        self.tools.iter()
    }

    /// Called or exposed tools.
    pub fn tools_in_use(&self) -> impl Iterator<Item = &ToolAdvice> {
        self.tools()
            .filter(|tool| tool.calls > 0 || tool.recommendation == Recommendation::Exposed)
    }

    /// Percentage by which look-ups by programs cost more than direct calls; negative if less.
    pub fn overhead(&self) -> Option<i64> {
        let more = difference(self.by_programs, self.directly);
        (self.directly > 0).then(|| more * 100 / i64::try_from(self.directly).unwrap_or(i64::MAX))
    }

    /// Whether any tool has enough look-ups.
    pub fn has_enough(&self) -> bool {
        self.tools.iter().any(|tool| tool.lookups >= MIN_LOOKUPS)
    }

    /// Whether the tools that are already exposed exceed the budget.
    pub fn is_over_budget(&self) -> bool {
        self.exposed > self.budget
    }

    /// Takes tools in order of savings, and skips tools that exceed the rest of the budget.
    fn propose(&mut self) {
        let exposed = self
            .tools
            .iter()
            .filter(|tool| tool.recommendation == Recommendation::Exposed);
        self.exposed = exposed.filter_map(|tool| tool.definition).sum();
        let Some(mut left) = self.budget.checked_sub(self.exposed) else {
            return;
        };
        for tool in &self.tools {
            // Keep an exposed tool: the model calls it directly, so the records hold no look-ups.
            if tool.recommendation != Recommendation::Exposed {
                let definition = tool
                    .definition
                    .filter(|_| tool.recommendation == Recommendation::Direct);
                let Some(rest) = definition.and_then(|definition| left.checked_sub(definition)) else {
                    continue;
                };
                left = rest;
            }
            self.proposed.push(tool.tool.to_string());
        }
    }
}

fn entry<'t>(tools: &'t mut BTreeMap<ToolRef, ToolAdvice>, tool: &ToolRef) -> &'t mut ToolAdvice {
    tools
        .entry(tool.clone())
        .or_insert_with(|| ToolAdvice::new(tool.clone(), None))
}

// === impl ToolAdvice ===

impl ToolAdvice {
    fn new(tool: ToolRef, definition: Option<u64>) -> ToolAdvice {
        ToolAdvice {
            tool,
            definition,
            calls: 0,
            lookups: 0,
            saved: 0,
            saved_in_all: None,
            recommendation: Recommendation::TooFew,
        }
    }

    /// Tokens saved by a direct call over a look-up; negative if it costs more. `None` without look-ups.
    pub fn saved_per_lookup(&self) -> Option<i64> {
        let lookups = i64::try_from(self.lookups).ok().filter(|lookups| *lookups > 0);
        lookups.map(|lookups| self.saved / lookups)
    }

    /// Look-ups per session that pay for the definition; `None` if none do.
    pub fn break_even(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "numbers of tokens are small")]
        let ratio = |definition: u64, saved: i64| definition as f64 / saved as f64;
        let saved = self.saved_per_lookup().filter(|saved| *saved > 0)?;
        Some(ratio(self.definition?, saved))
    }

    fn decide(&mut self, sessions: u64, exposed: &[ToolRef]) {
        let definition = self.definition.map(|definition| definition * sessions);
        let definition = definition.and_then(|definition| i64::try_from(definition).ok());
        self.saved_in_all = definition
            .filter(|_| self.lookups > 0)
            .map(|definition| self.saved - definition);
        self.recommendation = match self.saved_in_all {
            _ if exposed.contains(&self.tool) => Recommendation::Exposed,
            _ if self.lookups < MIN_LOOKUPS => Recommendation::TooFew,
            Some(1..) => Recommendation::Direct,
            Some(_) => Recommendation::Program,
            None => Recommendation::Unlisted,
        };
    }
}

// === impl Recommendation ===

impl Recommendation {
    /// The word in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Recommendation::Exposed => "exposed",
            Recommendation::Direct => "direct",
            Recommendation::Program => "program",
            Recommendation::TooFew => "too few",
            Recommendation::Unlisted => "not listed",
        }
    }
}

// === impl Lookup ===

impl<'c> Lookup<'c> {
    /// The run as a look-up, if it is one.
    fn of(cost: &'c RunCost) -> Option<Lookup<'c>> {
        let [call] = cost.calls.as_slice() else {
            return None;
        };
        // Ignore refused and failed calls. A program with further calls combines results, which is the
        // purpose of programs.
        if cost.other_calls > 0 || !cost.completed || call.calls != 1 || call.answered != 1 {
            return None;
        }
        // The receipt of an older codeyard lacks its own length, so estimate the run.
        let counted = cost
            .receipt
            .as_ref()
            .and_then(|receipt| Some((receipt, receipt.receipt_text?)));
        let (by_program, returned, answer) = match counted {
            Some((receipt, _)) if receipt.calls.len() != 1 => return None,
            Some((receipt, receipt_text)) => {
                let receipt_text = receipt_text.min(receipt.read);
                let answer = receipt.calls.values().map(|calls| calls.read).sum();
                (cost.tokens() - receipt_text, receipt.read - receipt_text, answer)
            }
            None => {
                let answer = estimates::answers(call.answer_bytes);
                (
                    cost.estimated_tokens(),
                    estimates::shown(cost.shown_bytes),
                    answer,
                )
            }
        };
        let (directly, min_returned) = match counted {
            Some(_) => (cost.direct_tokens(), MIN_RETURNED),
            None => (call.estimated_tokens(), MIN_RETURNED_ESTIMATED),
        };
        (returned * 100 >= answer * min_returned && answer > 0).then_some(Lookup {
            tool: &call.tool,
            by_program,
            directly,
            is_counted: counted.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::direct::ToolTokens;
    use crate::recorded::{CallBytes, RecordedReceipt};

    /// A run with a receipt and one call of this tool.
    fn cost(process: i64, tool: &str, shown: u64, answer: u64) -> RunCost {
        RunCost {
            run: "r".to_owned(),
            process,
            client: None,
            front: "mcp".to_owned(),
            asked_ms: 0,
            completed: true,
            code_bytes: 0,
            shown_bytes: 0,
            search_bytes: 0,
            receipt: Some(RecordedReceipt {
                written: 40,
                read: shown + 65,
                receipt_text: Some(65),
                calls: BTreeMap::from([(
                    ToolRef::new("crm", tool),
                    ToolTokens {
                        calls: 1,
                        written: 10,
                        read: answer,
                    },
                )]),
                ..RecordedReceipt::default()
            }),
            calls: vec![CallBytes {
                tool: ToolRef::new("crm", tool),
                calls: 1,
                arguments_bytes: 30,
                answer_bytes: answer * 4,
                answered: 1,
            }],
            other_calls: 0,
        }
    }

    fn definition(tool: &str, tokens: u64) -> (ToolRef, u64) {
        (ToolRef::new("crm", tool), tokens)
    }

    fn advice(costs: &[RunCost], budget: u64) -> Advice {
        let definitions = [
            definition("find", 100),
            definition("list", 50),
            definition("dear", 5000),
            definition("never", 10),
        ];
        Advice::new(costs, &definitions, &[], budget)
    }

    fn shown(advice: &Advice) -> Vec<String> {
        let tools = advice.tools_in_use();
        tools
            .map(|tool| {
                let (name, net) = (&tool.tool, tool.saved_in_all);
                format!(
                    "{name} {} {:?} {net:?} {}",
                    tool.lookups,
                    tool.saved_per_lookup(),
                    tool.recommendation.name()
                )
            })
            .collect()
    }

    #[test]
    fn a_tool_that_is_looked_up_often_pays_for_its_definition() {
        let mut costs: Vec<RunCost> = (0..10).map(|_| cost(1, "find", 80, 80)).collect();
        costs.extend((0..10).map(|_| cost(1, "dear", 80, 80)));
        // Here programs spare the model nearly everything, so these are no look-ups.
        costs.extend((0..10).map(|_| cost(1, "list", 5, 900)));
        let advice = advice(&costs, 2000);
        assert_eq!(
            shown(&advice),
            [
                "crm.find 10 Some(30) Some(200) direct",
                "crm.dear 10 Some(30) Some(-4700) program",
                "crm.list 0 None None too few"
            ]
        );
        assert_eq!(advice.proposed, ["crm.find"]);
        assert_eq!((advice.lookups, advice.overhead()), (20, Some(33)));
        assert!(advice.has_enough());
    }

    #[test]
    fn runs_without_a_model_are_excluded() {
        let mut costs: Vec<RunCost> = (0..10).map(|_| cost(1, "find", 80, 80)).collect();
        for (front, cost) in ["run", "task"].into_iter().zip(&mut costs) {
            front.clone_into(&mut cost.front);
        }
        let advice = advice(&costs, 2000);
        assert_eq!((advice.runs, advice.left_out, advice.lookups), (8, 2, 8));
        assert_eq!(shown(&advice), ["crm.find 8 Some(30) Some(140) direct"]);
    }

    #[test]
    fn only_answers_of_programs_that_completed_are_look_ups() {
        let check = |change: &dyn Fn(&mut RunCost)| {
            let mut costs = vec![cost(1, "find", 80, 80)];
            change(&mut costs[0]);
            assert_eq!(advice(&costs, 2000).lookups, 0, "{costs:?}");
        };
        check(&|cost| cost.completed = false);
        check(&|cost| cost.other_calls = 1);
        check(&|cost| cost.calls[0].answered = 0);
        check(&|cost| cost.calls[0].calls = 2);
        check(&|cost| cost.calls.clear());
        check(&|cost| cost.calls.push(cost.calls[0].clone()));
    }

    #[test]
    fn a_look_up_returns_most_of_the_answer() {
        let check = |cost: RunCost, lookups: u64| assert_eq!(advice(&[cost], 2000).lookups, lookups);
        check(cost(1, "find", 70, 100), 1);
        check(cost(1, "find", 69, 100), 0);
        let estimated = |shown_bytes| RunCost {
            receipt: None,
            shown_bytes,
            ..cost(1, "find", 0, 1630)
        };
        // A thousand tokens, as a server sends them.
        check(estimated(1470), 1);
        check(estimated(1460), 0);
    }

    #[test]
    fn the_budget_limits_proposals_and_few_data_propose_nothing() {
        let costs: Vec<RunCost> = (0..10).map(|_| cost(1, "find", 80, 80)).collect();
        assert!(advice(&costs, 99).proposed.is_empty());
        let few = advice(&costs[..4], 2000);
        assert!(!few.has_enough() && few.proposed.is_empty());
        let none = advice(&[], 2000);
        assert!(!none.has_enough() && none.overhead().is_none() && none.tools_in_use().next().is_none());
    }

    #[test]
    fn a_receipt_without_its_length_counts_as_missing() {
        let mut costs = vec![cost(1, "find", 80, 80)];
        assert_eq!(advice(&costs, 2000).estimated, 0);
        for receipt in costs.iter_mut().filter_map(|cost| cost.receipt.as_mut()) {
            receipt.receipt_text = None;
        }
        // By its recorded bytes it returned nothing.
        assert_eq!(advice(&costs, 2000).lookups, 0);
        costs[0].shown_bytes = 300;
        let estimated = advice(&costs, 2000);
        assert_eq!((estimated.lookups, estimated.estimated), (1, 1));
    }

    #[test]
    fn lines_include_exposed_tools_and_are_empty_if_these_exceed_the_budget() {
        let costs: Vec<RunCost> = (0..10).map(|_| cost(1, "find", 80, 80)).collect();
        let check = |budget: u64, proposed: &[&str]| {
            let definitions = [definition("find", 100), definition("list", 50)];
            let exposed = [ToolRef::new("crm", "list"), ToolRef::new("gone", "away")];
            let advice = Advice::new(&costs, &definitions, &exposed, budget);
            assert_eq!(advice.proposed, proposed, "{budget}");
            assert_eq!((advice.exposed, advice.is_over_budget()), (50, budget < 50));
        };
        check(150, &["crm.find", "crm.list", "gone.away"]);
        check(149, &["crm.list", "gone.away"]);
        check(50, &["crm.list", "gone.away"]);
        check(49, &[]);
    }

    #[test]
    fn definitions_are_paid_in_every_session() {
        let costs: Vec<RunCost> = (0..10).map(|session| cost(session, "find", 80, 80)).collect();
        let advice = advice(&costs, 2000);
        assert_eq!(shown(&advice), ["crm.find 10 Some(30) Some(-700) program"]);
        let find = ToolRef::new("crm", "find");
        let exposed = Advice::new(&costs, &[definition("find", 1)], &[find], 2000);
        assert_eq!(shown(&exposed), ["crm.find 10 Some(30) Some(290) exposed"]);
    }
}
