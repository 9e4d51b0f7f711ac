//! Step 5: a task's plan: steps, each with tool and arguments, and what prevents the task from running.

mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use catalog::{Entry, Search};
use types::ToolRef;

use crate::call::PlannedCall;
use crate::clauses::{Clause, clauses};
use crate::coverage::{self, Coverage};
use crate::error::{TaskError, readable};
use crate::fill::EarlierStep;
use crate::program::{ProgramOverrides, is_server};
use crate::select::{Candidates, Selected, candidates, query, select};
use crate::verbs;
use crate::vocabulary::VERBS;
use crate::words::words;

/// Tool names by server.
pub type ToolNames = BTreeMap<String, Vec<String>>;

/// What to plan.
#[derive(Debug, Clone, Copy)]
pub struct PlanRequest<'a> {
    /// The task in words.
    pub text: &'a str,
    /// Selects a tool from this share of the score for its own name, 0 to 1.
    pub threshold: f32,
    /// Use exactly these tools, without a selection.
    pub required: Option<&'a ToolNames>,
}

/// The plan of a task.
#[derive(Debug)]
pub struct TaskPlan {
    /// The trimmed task.
    pub task: String,
    /// All callable tools.
    pub discovered: Vec<Arc<Entry>>,
    /// Tools selected for any step, in catalog order.
    pub selected: Vec<Arc<Entry>>,
    /// Steps in order.
    pub steps: Vec<PlannedStep>,
    has_own_code: bool,
    /// Servers in the caller's code without tools here.
    unknown_servers: Vec<String>,
}

/// One step.
#[derive(Debug, Default)]
pub struct PlannedStep {
    /// Words of the task.
    pub text: String,
    /// The call, if a tool was found.
    pub call: Option<PlannedCall>,
    /// Why the step cannot be run.
    pub problem: Option<String>,
    /// The caller's code replaces the call.
    pub is_replaced: bool,
    /// Tools selected for the step.
    pub selected: Vec<ToolRef>,
    /// Tools that fit as well as the called one.
    pub alternatives: Vec<ToolRef>,
    /// Words and values of the step that the call does not use.
    pub unused: Vec<String>,
}

/// Plans a task over the visible tools.
///
/// # Errors
/// If the text cannot be read, or a required tool does not exist.
pub fn plan(
    request: &PlanRequest<'_>,
    search: &Search,
    visible: &dyn Fn(&Entry) -> bool,
) -> Result<TaskPlan, TaskError> {
    let task = readable(request.text)?;
    let all = search.catalog().entries();
    let discovered: Vec<Arc<Entry>> = all.filter(|entry| visible(entry)).cloned().collect();
    let required = request.required.map(|tools| required(tools, &discovered));
    let required = required.transpose()?;
    let tool_verbs = verbs::of_tools(&discovered);
    let is_verb = |word: &str| VERBS.has(word) || tool_verbs.contains(word);
    let words = words(task, &is_verb);
    let mut planner = Planner {
        request,
        search,
        visible,
        task,
        discovered: &discovered,
        required: required.as_deref(),
        is_verb: &is_verb,
        earlier: Vec::new(),
        steps: Vec::new(),
    };
    for clause in clauses(&words, &is_verb) {
        planner.push(&clause);
    }
    let steps = planner.steps;
    let selected: BTreeSet<&ToolRef> = steps.iter().flat_map(|step| &step.selected).collect();
    let is_selected = |entry: &&Arc<Entry>| selected.contains(&entry.tool);
    Ok(TaskPlan {
        task: task.to_owned(),
        selected: required.unwrap_or_else(|| discovered.iter().filter(is_selected).cloned().collect()),
        discovered,
        steps,
        has_own_code: false,
        unknown_servers: Vec::new(),
    })
}

/// The tools of these names; each must exist.
fn required(tools: &ToolNames, discovered: &[Arc<Entry>]) -> Result<Vec<Arc<Entry>>, TaskError> {
    let mut required = Vec::new();
    for (server, names) in tools {
        for name in names {
            let is_tool = |entry: &Entry| entry.tool.tool == *name || entry.alias == *name;
            let found = discovered
                .iter()
                .find(|entry| is_server(server, entry) && is_tool(entry));
            required.push(
                found
                    .ok_or_else(|| TaskError::NoTool(format!("{server}.{name}")))?
                    .clone(),
            );
        }
    }
    Ok(required)
}

struct Planner<'a> {
    request: &'a PlanRequest<'a>,
    search: &'a Search,
    visible: &'a dyn Fn(&Entry) -> bool,
    task: &'a str,
    discovered: &'a [Arc<Entry>],
    required: Option<&'a [Arc<Entry>]>,
    is_verb: &'a dyn Fn(&str) -> bool,
    earlier: Vec<EarlierStep>,
    steps: Vec<PlannedStep>,
}

// === impl Planner ===

impl Planner<'_> {
    /// Adds a clause's step.
    fn push(&mut self, clause: &Clause<'_>) {
        let mut step = PlannedStep {
            text: self.task[clause.span()].to_owned(),
            ..PlannedStep::default()
        };
        if clause.is_conditional {
            step.problem = Some(report::refused(&step.text, report::CONDITIONAL));
        } else {
            let found = self.candidates(clause);
            match select(&found, self.task, clause, &self.earlier) {
                Some((selected, as_good)) => {
                    let tools = found.tools.iter().map(|(entry, _)| entry);
                    let tools = tools.chain([&selected.entry]);

                    step.selected = tools.map(|entry| entry.tool.clone()).collect();
                    step.alternatives = as_good.iter().map(|other| other.entry.tool.clone()).collect();
                    self.call(&mut step, clause, selected);
                }
                None => step.problem = Some(self.no_tool(&step.text, clause, &found)),
            }
        }
        self.steps.push(step);
    }

    fn candidates(&self, clause: &Clause<'_>) -> Candidates {
        let is_in =
            |server: &str, word: &str| catalog::words(server).any(|own| own.eq_ignore_ascii_case(word));
        let query = query(clause, &|word| {
            self.discovered.iter().any(|tool| is_in(&tool.tool.server, word))
        });
        let Some(required) = self.required else {
            return candidates(self.search, &query, self.visible, self.request.threshold);
        };
        let is_required = |entry: &Entry| required.iter().any(|required| required.tool == entry.tool);
        let mut found = candidates(self.search, &query, &is_required, 0.0);
        if found.tools.is_empty() {
            found.tools = required.iter().map(|entry| (entry.clone(), 0.0)).collect();
        }
        found
    }

    /// Adds the call to the step, and keeps what later steps need.
    fn call(
        &mut self,
        step: &mut PlannedStep,
        clause: &Clause<'_>,
        Selected { entry, filled, .. }: Selected,
    ) {
        let coverage = Coverage::new(clause, &entry, &filled);
        step.unused = coverage.left(self.task);
        let refusal = filled.unclear.clone().or_else(|| coverage::reversal(clause));
        let refusal = refusal.or_else(|| coverage.changed_number(self.task));
        step.problem = report::problem(&step.text, &entry, &filled.missing, refusal, &step.unused);
        let output = entry.definition.output_schema().unwrap_or_default();
        let fields = output["properties"].as_object().into_iter().flatten();
        self.earlier.push(EarlierStep {
            number: self.steps.len() + 1,
            fields: fields.map(|(name, _)| name.clone()).collect(),
            arguments: filled.arguments.clone(),
            reads: verbs::reads(&entry),
        });
        step.call = Some(PlannedCall {
            entry,
            arguments: filled.arguments,
            missing: filled.missing,
        });
    }

    /// Why no tool is called.
    fn no_tool(&self, text: &str, clause: &Clause<'_>, found: &Candidates) -> String {
        let nearest = found.nearest.iter().map(|(entry, _)| entry.tool.to_string());
        let nearest: Vec<String> = nearest.collect();
        let is_verb = clause.verb().is_some_and(|verb| (self.is_verb)(verb));
        let reason = match (coverage::reversal(clause), clause.is_question, is_verb) {
            (Some(reversal), ..) => return report::refused(text, &reversal),
            (None, true, _) => report::ONLY_READS,
            (None, false, false) => report::ONLY_ENGLISH,
            (None, false, true) => "",
        };
        report::no_tool(text, self.discovered.len(), reason, &nearest)
    }
}

// === impl TaskPlan ===

impl TaskPlan {
    /// Replaces steps by the caller's code: those that call tools of its servers, and those without a tool.
    pub fn replace(&mut self, overrides: &ProgramOverrides) {
        if overrides.calls.is_empty() {
            return;
        }
        self.has_own_code = true;
        self.unknown_servers = overrides.unknown_servers(&self.discovered);
        for step in &mut self.steps {
            let call = step.call.as_ref();
            step.is_replaced = call.is_none_or(|call| overrides.code_for(&call.entry).is_some());
            if step.is_replaced {
                step.problem = None;
            }
        }
    }
}
