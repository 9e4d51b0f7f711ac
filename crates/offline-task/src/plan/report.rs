//! Messages of a plan: why a step cannot be run, how to state what is missing, and what a call ignores.

use catalog::Entry;
use types::ToolRef;

use super::TaskPlan;
use crate::call::{MissingArgument, PlannedCall};
use crate::{python, verbs};

/// Problems reported.
const MAX_PROBLEMS: usize = 10;
/// Characters of the task in a message.
const MAX_TEXT: usize = 80;

/// Why a condition is refused, and why no tool was found; both complete a sentence about the step.
pub(super) const CONDITIONAL: &str = "is a condition or a repetition, which codeyard cannot follow; pass the program of that part \
                                      (--task-specific-calls)";
pub(super) const ONLY_READS: &str = "; a question calls only tools that are known to change nothing";
pub(super) const ONLY_ENGLISH: &str =
    "; it does not begin with a known verb, and codeyard reads only English";

/// What to do about words that a call ignores.
const INSTEAD: &str =
    "say it without these words, write parameter=value, or pass the program (--task-specific-calls)";

pub(super) fn refused(text: &str, reason: &str) -> String {
    format!("{:?} {reason}", shortened(text))
}

pub(super) fn no_tool(text: &str, tools: usize, reason: &str, nearest: &[String]) -> String {
    let near = if nearest.is_empty() { "" } else { "; near are " };
    format!(
        "no tool of {tools} answers {:?}{reason}{near}{}",
        shortened(text),
        nearest.join(", ")
    )
}

/// Why a call is not made.
pub(super) fn problem(
    text: &str,
    entry: &Entry,
    missing: &[MissingArgument],
    refusal: Option<String>,
    unused: &[String],
) -> Option<String> {
    let tool = &entry.tool;
    if let Some(refusal) = refusal {
        return Some(refused(text, &refusal));
    }
    if !missing.is_empty() {
        let needs = |one: &MissingArgument| format!("'{}': {}", one.parameter, one.hint);
        let needs = missing.iter().map(needs).collect::<Vec<_>>().join("; and ");
        return Some(format!("{tool} needs {needs} (in {:?})", shortened(text)));
    }
    let (text, unused) = (shortened(text), quoted(unused));
    (!unused.is_empty() && !verbs::reads(entry)).then(|| {
        format!("{tool} has no parameter for {unused}, so {text:?} may mean another tool, and this one changes something; {INSTEAD}")
    })
}

// === impl TaskPlan ===

impl TaskPlan {
    /// Why the task cannot be run; empty if it can. Reports the first problems and the number of the others.
    pub fn problems(&self) -> Vec<String> {
        let problems = self.steps.iter().filter_map(|step| step.problem.clone());
        let mut problems: Vec<String> = problems.collect();
        problems.extend(self.unknown_servers.iter().map(|server| {
            format!("--task-specific-calls has a program for the server '{server}', which has no tools; see `codeyard tools`")
        }));
        if problems.len() > MAX_PROBLEMS {
            let more = problems.len() - MAX_PROBLEMS;
            problems.truncate(MAX_PROBLEMS);
            problems.push(format!("and {more} more of this kind; say less at once"));
        }
        if self.steps.is_empty() && !self.has_own_code {
            problems.push(format!("there is nothing to do in {:?}", shortened(&self.task)));
        }
        problems
    }

    /// Remarks on a plan that can be run.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for step in &self.steps {
            let (text, unused) = (shortened(&step.text), quoted(&step.unused));
            let others = step
                .alternatives
                .iter()
                .map(ToolRef::to_string)
                .collect::<Vec<_>>();
            let others = others.join(", ");
            let reads = |call: &&PlannedCall| !step.unused.is_empty() && verbs::reads(&call.entry);
            match &step.call {
                None if step.is_replaced => {
                    notes.push(format!(
                        "{text:?} is left to the program of --task-specific-calls"
                    ));
                }
                Some(call) if !step.is_replaced && step.problem.is_none() => {
                    let tool = &call.entry.tool;
                    let taken = format!("{tool} was taken for {text:?}; as likely: {others}");
                    notes.extend((!others.is_empty()).then_some(taken));
                    let left = format!("{tool} has no parameter for {unused}, which is left out");
                    notes.extend(reads(&call).then_some(left));
                }
                _ => {}
            }
        }
        notes
    }
}

fn quoted(texts: &[String]) -> String {
    let quote = |text: &String| format!("{:?}", shortened(text));
    texts.iter().map(quote).collect::<Vec<_>>().join(", ")
}

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    python::line(text, MAX_TEXT)
}
