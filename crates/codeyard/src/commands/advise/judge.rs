//! Judges which tools pay for being seen by the model, from what runs have cost; pure.

use std::collections::{BTreeMap, HashSet};

use server::store::CostView;
use tokens::difference;
use types::ToolRef;

use crate::commands::runs::estimates;

/// Look-ups of a tool below which nothing is said of it.
pub(super) const ENOUGH: u64 = 5;
/// A look-up returns at least this part of the answer, in percent: else the program has spared the model something.
const NEARLY_WHOLE: u64 = 70;
/// The same where both are estimated from bytes: servers often send an answer twice, as text and as structured content.
const NEARLY_WHOLE_ESTIMATED: u64 = 50;

/// What is better for a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is exposed already.
    Exposed,
    /// The model should call it itself.
    Direct,
    /// Programs should call it.
    Program,
    /// Nobody knows yet.
    TooFew,
    /// It is not listed, or may not be called: what its definition would cost is not known.
    Unlisted,
}

/// One tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    tool: ToolRef,
    /// `None` if its definition is not remembered.
    pub(super) price: Option<u64>,
    pub(super) calls: u64,
    pub(super) lookups: u64,
    saved: i64,
    /// What exposing it would have saved in all sessions, its definition paid in each.
    pub(super) in_all: Option<i64>,
    pub(super) verdict: Verdict,
}

/// All tools, and what follows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Advice {
    tools: Vec<Judged>,
    pub(super) runs: usize,
    /// Runs of the command line and of tasks, which are no model's turns.
    pub(super) left_out: usize,
    pub(super) sessions: usize,
    pub(super) lookups: u64,
    /// Look-ups without a receipt.
    pub(super) estimated: u64,
    /// Tokens of all look-ups, by programs and directly.
    by_programs: u64,
    directly: u64,
    pub(super) budget: u64,
    /// Tokens of what is exposed already, as far as it is known.
    pub(super) exposed: u64,
    /// The tools to expose, those that are exposed already among them; none where these do not fit. As `server.tool`.
    pub(super) proposed: Vec<String>,
}

/// A run with one call whose answer came back nearly whole. Tokens.
struct Lookup<'c> {
    server: &'c str,
    tool: &'c str,
    by_program: u64,
    directly: u64,
    is_counted: bool,
}

// === impl Advice ===

impl Advice {
    /// From the runs that clients asked for; `priced` are tools and what their definitions cost a session, `exposed` those that are shown already.
    pub(super) fn of(
        all: &[CostView],
        priced: &[(ToolRef, u64)],
        exposed: &[ToolRef],
        budget: u64,
    ) -> Advice {
        let mut tools: BTreeMap<ToolRef, Judged> = priced.iter().map(Judged::entry).collect();
        for tool in exposed {
            judged(&mut tools, &tool.server, &tool.tool);
        }
        let costs: Vec<&CostView> = all.iter().filter(|cost| cost.front == "mcp").collect();
        for calls in costs.iter().flat_map(|cost| &cost.calls) {
            judged(&mut tools, &calls.server, &calls.tool).calls += calls.calls;
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
            let tool = judged(&mut tools, lookup.server, lookup.tool);
            tool.lookups += 1;
            tool.saved += difference(lookup.by_program, lookup.directly);
            advice.lookups += 1;
            advice.estimated += u64::from(!lookup.is_counted);
            advice.by_programs += lookup.by_program;
            advice.directly += lookup.directly;
        }
        advice.tools = tools.into_values().collect();
        for tool in &mut advice.tools {
            tool.judge(sessions.len() as u64, exposed);
        }
        advice
            .tools
            .sort_by_key(|tool| std::cmp::Reverse((tool.in_all.unwrap_or(i64::MIN), tool.calls)));
        advice.propose();
        advice
    }

    /// What is there to tell of: tools that were called, and those that are exposed, or `all`.
    pub(super) fn told(&self, all: bool) -> impl Iterator<Item = &Judged> {
        let is_told = move |tool: &&Judged| all || tool.calls > 0 || tool.verdict == Verdict::Exposed;
        self.tools.iter().filter(is_told)
    }

    /// How much more look-ups cost by programs, in percent; below zero if less.
    pub(super) fn overhead(&self) -> Option<i64> {
        let more = difference(self.by_programs, self.directly);
        (self.directly > 0).then(|| more * 100 / i64::try_from(self.directly).unwrap_or(i64::MAX))
    }

    pub(super) fn is_too_little(&self) -> bool {
        self.tools.iter().all(|tool| tool.lookups < ENOUGH)
    }

    /// Whether what is exposed already is more than the budget allows.
    pub(super) fn is_over(&self) -> bool {
        self.exposed > self.budget
    }

    /// What saves most goes first; what does not fit any more is left out.
    fn propose(&mut self) {
        let exposed = self.tools.iter().filter(|tool| tool.verdict == Verdict::Exposed);
        self.exposed = exposed.filter_map(|tool| tool.price).sum();
        let Some(mut left) = self.budget.checked_sub(self.exposed) else {
            return;
        };
        for tool in &self.tools {
            // A tool that the model calls itself is looked up by no program any more: that it is not judged says nothing.
            if tool.verdict != Verdict::Exposed {
                let price = tool.price.filter(|_| tool.verdict == Verdict::Direct);
                let Some(rest) = price.and_then(|price| left.checked_sub(price)) else {
                    continue;
                };
                left = rest;
            }
            self.proposed.push(tool.name());
        }
    }
}

fn judged<'t>(tools: &'t mut BTreeMap<ToolRef, Judged>, server: &str, tool: &str) -> &'t mut Judged {
    let tool = ToolRef::new(server, tool);
    tools
        .entry(tool.clone())
        .or_insert_with(|| Judged::new(tool, None))
}

// === impl Judged ===

impl Judged {
    fn new(tool: ToolRef, price: Option<u64>) -> Judged {
        Judged {
            tool,
            price,
            calls: 0,
            lookups: 0,
            saved: 0,
            in_all: None,
            verdict: Verdict::TooFew,
        }
    }

    fn entry((tool, price): &(ToolRef, u64)) -> (ToolRef, Judged) {
        (tool.clone(), Judged::new(tool.clone(), Some(*price)))
    }

    pub(super) fn name(&self) -> String {
        self.tool.to_string()
    }

    /// Tokens that one look-up would save if the model called the tool itself; below zero if it would cost more.
    pub(super) fn saved_each(&self) -> Option<i64> {
        let lookups = i64::try_from(self.lookups).ok().filter(|lookups| *lookups > 0);
        lookups.map(|lookups| self.saved / lookups)
    }

    /// Look-ups a session from which its definition is paid for.
    pub(super) fn pays_from(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "numbers of tokens are small")]
        let ratio = |price: u64, saved: i64| price as f64 / saved as f64;
        let saved = self.saved_each().filter(|saved| *saved > 0)?;
        Some(ratio(self.price?, saved))
    }

    fn judge(&mut self, sessions: u64, exposed: &[ToolRef]) {
        let paid = self.price.and_then(|price| i64::try_from(price * sessions).ok());
        self.in_all = paid.filter(|_| self.lookups > 0).map(|paid| self.saved - paid);
        self.verdict = match self.in_all {
            _ if exposed.contains(&self.tool) => Verdict::Exposed,
            _ if self.lookups < ENOUGH => Verdict::TooFew,
            Some(1..) => Verdict::Direct,
            Some(_) => Verdict::Program,
            None => Verdict::Unlisted,
        };
    }
}

// === impl Verdict ===

impl Verdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            Verdict::Exposed => "exposed",
            Verdict::Direct => "direct",
            Verdict::Program => "program",
            Verdict::TooFew => "too few",
            Verdict::Unlisted => "not listed",
        }
    }
}

// === impl Lookup ===

impl<'c> Lookup<'c> {
    fn of(cost: &'c CostView) -> Option<Lookup<'c>> {
        let [call] = cost.calls.as_slice() else {
            return None;
        };
        // What was refused or failed would have come to nothing either way. A program that did more than this call joined two
        // things together, which is what programs are for.
        if cost.aside > 0 || !cost.completed || call.calls != 1 || call.answered != 1 {
            return None;
        }
        // One that does not say how long it is itself is an older codeyard's: its run is estimated.
        let counted = cost
            .receipt
            .as_ref()
            .and_then(|receipt| Some((receipt, receipt.own?)));
        let (written, shown, searched, directly, answer, nearly_whole) = match counted {
            Some((receipt, own)) => {
                let [calls] = receipt.calls.as_slice() else {
                    return None;
                };
                let shown = receipt.read.saturating_sub(own);
                let directly = calls.written + calls.read;
                (
                    receipt.written,
                    shown,
                    receipt.searched,
                    directly,
                    calls.read,
                    NEARLY_WHOLE,
                )
            }
            None => {
                let answer = estimates::answers(call.answer_bytes);
                let directly = estimates::arguments(call.arguments_bytes) + answer;
                let written = estimates::program(cost.code_bytes);
                let shown = estimates::shown(cost.shown_bytes);
                let searched = estimates::searched(cost.search_bytes);
                (written, shown, searched, directly, answer, NEARLY_WHOLE_ESTIMATED)
            }
        };
        (shown * 100 >= answer * nearly_whole && answer > 0).then_some(Lookup {
            server: &call.server,
            tool: &call.tool,
            by_program: written + shown + searched,
            directly,
            is_counted: counted.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use server::store::{CallBytes, CallsTaken, ReceiptTaken};

    use super::*;

    /// A run with a receipt that made one call of this tool.
    fn cost(process: i64, tool: &str, shown: u64, answer: u64) -> CostView {
        CostView {
            run: "r".to_owned(),
            process,
            client: None,
            front: "mcp".to_owned(),
            asked_ms: 0,
            completed: true,
            code_bytes: 0,
            shown_bytes: 0,
            search_bytes: 0,
            receipt: Some(ReceiptTaken {
                written: 40,
                read: shown + 65,
                own: Some(65),
                calls: vec![CallsTaken {
                    server: "crm".to_owned(),
                    tool: tool.to_owned(),
                    calls: 1,
                    written: 10,
                    read: answer,
                }],
                ..ReceiptTaken::default()
            }),
            calls: vec![CallBytes {
                server: "crm".to_owned(),
                tool: tool.to_owned(),
                calls: 1,
                arguments_bytes: 30,
                answer_bytes: answer * 4,
                answered: 1,
            }],
            aside: 0,
        }
    }

    fn priced(tool: &str, price: u64) -> (ToolRef, u64) {
        (ToolRef::new("crm", tool), price)
    }

    fn advice(costs: &[CostView], budget: u64) -> Advice {
        let priced = [
            priced("find", 100),
            priced("list", 50),
            priced("dear", 5000),
            priced("never", 10),
        ];
        Advice::of(costs, &priced, &[], budget)
    }

    fn shown(advice: &Advice) -> Vec<String> {
        let told = advice.told(false);
        told.map(|tool| {
            let (name, net) = (tool.name(), tool.in_all);
            format!(
                "{name} {} {:?} {net:?} {}",
                tool.lookups,
                tool.saved_each(),
                tool.verdict.name()
            )
        })
        .collect()
    }

    #[test]
    fn a_tool_that_is_looked_up_often_pays_for_its_definition() {
        let mut costs: Vec<CostView> = (0..10).map(|_| cost(1, "find", 80, 80)).collect();
        costs.extend((0..10).map(|_| cost(1, "dear", 80, 80)));
        // Here programs spare the model nearly everything: these are no look-ups.
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
        assert!(!advice.is_too_little());
    }

    #[test]
    fn what_no_client_asked_for_is_left_out() {
        let mut costs: Vec<CostView> = (0..10).map(|_| cost(1, "find", 80, 80)).collect();
        for (front, cost) in ["run", "task"].into_iter().zip(&mut costs) {
            front.clone_into(&mut cost.front);
        }
        let advice = advice(&costs, 2000);
        assert_eq!((advice.runs, advice.left_out, advice.lookups), (8, 2, 8));
        assert_eq!(shown(&advice), ["crm.find 8 Some(30) Some(140) direct"]);
    }

    #[test]
    fn only_answers_of_programs_that_completed_are_look_ups() {
        let check = |change: &dyn Fn(&mut CostView)| {
            let mut costs = vec![cost(1, "find", 80, 80)];
            change(&mut costs[0]);
            assert_eq!(advice(&costs, 2000).lookups, 0, "{costs:?}");
        };
        check(&|cost| cost.completed = false);
        check(&|cost| cost.aside = 1);
        check(&|cost| cost.calls[0].answered = 0);
        check(&|cost| cost.calls[0].calls = 2);
        check(&|cost| cost.calls.clear());
        check(&|cost| cost.calls.push(cost.calls[0].clone()));
    }

    #[test]
    fn a_look_up_returns_most_of_the_answer() {
        let check = |cost: CostView, lookups: u64| assert_eq!(advice(&[cost], 2000).lookups, lookups);
        check(cost(1, "find", 70, 100), 1);
        check(cost(1, "find", 69, 100), 0);
        let estimated = |shown_bytes| CostView {
            receipt: None,
            shown_bytes,
            ..cost(1, "find", 0, 1630)
        };
        // A thousand tokens, as a server sends them.
        check(estimated(1470), 1);
        check(estimated(1460), 0);
    }

    #[test]
    fn the_budget_binds_and_few_data_propose_nothing() {
        let costs: Vec<CostView> = (0..10).map(|_| cost(1, "find", 80, 80)).collect();
        assert!(advice(&costs, 99).proposed.is_empty());
        let few = advice(&costs[..4], 2000);
        assert!(few.is_too_little() && few.proposed.is_empty());
        let none = advice(&[], 2000);
        assert!(none.is_too_little() && none.overhead().is_none() && none.told(false).next().is_none());
    }

    #[test]
    fn a_receipt_that_does_not_say_how_long_it_is_counts_as_none() {
        let mut costs = vec![cost(1, "find", 80, 80)];
        assert_eq!(advice(&costs, 2000).estimated, 0);
        for receipt in costs.iter_mut().filter_map(|cost| cost.receipt.as_mut()) {
            receipt.own = None;
        }
        // By its recorded bytes it returned nothing.
        assert_eq!(advice(&costs, 2000).lookups, 0);
        costs[0].shown_bytes = 300;
        let estimated = advice(&costs, 2000);
        assert_eq!((estimated.lookups, estimated.estimated), (1, 1));
    }

    #[test]
    fn lines_hold_what_is_exposed_and_there_are_none_where_that_does_not_fit() {
        let costs: Vec<CostView> = (0..10).map(|_| cost(1, "find", 80, 80)).collect();
        let check = |budget: u64, proposed: &[&str]| {
            let priced = [priced("find", 100), priced("list", 50)];
            let exposed = [ToolRef::new("crm", "list"), ToolRef::new("gone", "away")];
            let advice = Advice::of(&costs, &priced, &exposed, budget);
            assert_eq!(advice.proposed, proposed, "{budget}");
            assert_eq!((advice.exposed, advice.is_over()), (50, budget < 50));
        };
        check(150, &["crm.find", "crm.list", "gone.away"]);
        check(149, &["crm.list", "gone.away"]);
        check(50, &["crm.list", "gone.away"]);
        check(49, &[]);
    }

    #[test]
    fn definitions_are_paid_in_every_session() {
        let costs: Vec<CostView> = (0..10).map(|session| cost(session, "find", 80, 80)).collect();
        let advice = advice(&costs, 2000);
        assert_eq!(shown(&advice), ["crm.find 10 Some(30) Some(-700) program"]);
        let find = ToolRef::new("crm", "find");
        let exposed = Advice::of(&costs, &[priced("find", 1)], &[find], 2000);
        assert_eq!(shown(&exposed), ["crm.find 10 Some(30) Some(290) exposed"]);
    }
}
