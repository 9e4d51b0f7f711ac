//! The plan of a task: its steps, the tool that each calls, with which arguments, and what is not known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use catalog::{Entry, Search};
use serde::Serialize;
use serde_json::Value;
use types::ToolRef;

use crate::choose::{Chosen, choose};
use crate::clauses::{Clause, clauses};
use crate::error::{TaskError, readable};
use crate::fill::Earlier;
use crate::fill::said::Said;
use crate::language;
use crate::literals::{Literal, literals};
use crate::parameters::{self, Parameter, Role, Takes};
use crate::program::Overrides;
use crate::python;
use crate::select::{Selected, select};
use crate::{doubt, verbs, vocabulary};

/// Tool names by server.
pub type Tools = BTreeMap<String, Vec<String>>;

/// What is to be planned.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The task in words.
    pub text: &'a str,
    /// The share of its own score from which a tool is selected, 0 to 1.
    pub threshold: f32,
    /// These tools and no others, without a selection.
    pub required: Option<&'a Tools>,
}

/// A task that was read.
#[derive(Debug)]
pub struct Plan {
    /// The task as it was read.
    pub task: String,
    /// All tools that may be called.
    pub discovered: Vec<Arc<Entry>>,
    /// Those that were selected for some step, in the order of the catalog.
    pub selected: Vec<Arc<Entry>>,
    /// Its steps in their order.
    pub steps: Vec<Step>,
    /// Whether the caller's own code is there for what the task has no steps for.
    is_given: bool,
    /// Servers of the caller's own code that no tool is of.
    unknown: Vec<String>,
    /// The language that the task seems to be in, if that is not English.
    pub language: Option<&'static str>,
}

/// One step.
#[derive(Debug, Default)]
pub struct Step {
    /// What the task says.
    pub text: String,
    /// What it calls; none if nothing answers it, or if it is a condition.
    pub call: Option<Call>,
    /// Whether it is, or depends on, a condition or a repetition, which is not followed.
    pub is_conditional: bool,
    /// Whether the caller's own code is in its place.
    pub is_left: bool,
    /// The tools that were selected for it.
    pub selected: Vec<ToolRef>,
    /// Tools that would fit as well.
    pub others: Vec<ToolRef>,
    /// Where it calls nothing, what comes nearest.
    pub nearest: Vec<ToolRef>,
    /// Why it may not mean the call, so that it is not made.
    pub doubt: Option<String>,
    /// Values that it says and that no parameter takes.
    pub unused: Vec<String>,
}

/// One call.
#[derive(Debug)]
pub struct Call {
    /// The tool.
    pub entry: Arc<Entry>,
    /// By parameter, in the order of the parameters.
    pub arguments: Vec<(String, Argument)>,
    /// What it needs and nobody said.
    pub missing: Vec<Missing>,
    /// A parameter with further values, for each of which the call is made again.
    pub repeated: Option<(String, Vec<Value>)>,
}

/// What is passed for one parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// This value.
    Value(Value),
    /// The result of an earlier step.
    Result {
        /// Its number, from 1.
        step: usize,
        /// One field of it.
        field: Option<String>,
        /// As text.
        as_text: bool,
    },
}

/// An argument that a call needs and the task does not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The parameter.
    pub parameter: String,
    /// How it may be said.
    pub hint: String,
}

/// Reads a task. `visible` says which tools may be called.
pub fn plan(
    request: &Request<'_>,
    search: &Search,
    visible: &dyn Fn(&Entry) -> bool,
) -> Result<Plan, TaskError> {
    let task = readable(request.text)?;
    let all = search.catalog().entries().filter(|entry| visible(entry));
    let discovered: Vec<Arc<Entry>> = all.cloned().collect();
    let required = request
        .required
        .map(|tools| required(tools, &discovered))
        .transpose()?;
    let verbs = verbs::of_tools(&discovered);
    let is_verb = |word: &str| vocabulary::is_imperative(word) || verbs.contains(word);
    let literals = literals(task, &is_verb);
    let mut planning = Planning {
        request,
        search,
        visible,
        task,
        names: names(&discovered),
        required: required.as_deref(),
        literals,
        earlier: Vec::new(),
        last: None,
        steps: Vec::new(),
    };
    for clause in clauses(task, &planning.literals, &is_verb) {
        planning.take(clause);
    }
    let steps = planning.steps;
    let selected: BTreeSet<&ToolRef> = steps.iter().flat_map(|step| &step.selected).collect();
    let selected = match required {
        Some(required) => required,
        None => discovered
            .iter()
            .filter(|entry| selected.contains(&entry.tool))
            .cloned()
            .collect(),
    };
    Ok(Plan {
        is_given: false,
        unknown: Vec::new(),
        language: language::foreign(task),
        task: task.to_owned(),
        discovered,
        selected,
        steps,
    })
}

struct Planning<'a> {
    request: &'a Request<'a>,
    search: &'a Search,
    visible: &'a dyn Fn(&Entry) -> bool,
    task: &'a str,
    /// Words of the names of servers, in small letters.
    names: BTreeSet<String>,
    required: Option<&'a [Arc<Entry>]>,
    literals: Vec<Literal>,
    earlier: Vec<Earlier>,
    /// The instruction of the last step.
    last: Option<Clause>,
    steps: Vec<Step>,
}

impl Planning<'_> {
    /// Plans one instruction. What only tells something belongs to the step before it, if that needs it or says more by it.
    fn take(&mut self, clause: Clause) {
        let before = self.last.take();
        let own = self.step(&clause, &self.earlier);
        if let (true, Some(before), Some(last)) = (clause.is_telling, before, self.steps.last()) {
            let whole = Clause {
                span: before.span.start..clause.span.end,
                ..before
            };
            let known = self.earlier.len() - usize::from(last.call.is_some());
            let joined = self.step(&whole, &self.earlier[..known]);
            let own_step = own.as_ref().map(|(step, _)| step);
            if let Some(joined) = joined.filter(|(step, _)| step.says_more_than(last, own_step)) {
                self.steps.pop();
                self.earlier.truncate(known);
                self.push(joined, whole);
                return;
            }
        }
        if let Some(own) = own {
            self.push(own, clause);
        }
    }

    fn push(&mut self, (step, result): (Step, Option<Earlier>), clause: Clause) {
        self.steps.push(step);
        let number = self.steps.len();
        self.earlier.extend(result.map(|result| Earlier {
            step: number,
            ..result
        }));
        self.last = Some(clause);
    }

    /// The step of an instruction, and what it gives; none for one that only asks to see what came before.
    fn step(&self, clause: &Clause, earlier: &[Earlier]) -> Option<(Step, Option<Earlier>)> {
        let said = Said::read(self.task, &clause.span, &self.literals);
        if !earlier.is_empty() && said.only_shows() {
            return None;
        }
        let text = self.task[clause.span.clone()].trim_end_matches([',', '.', ';', '!', ' ']);
        let mut step = Step {
            text: text.to_owned(),
            is_conditional: clause.is_conditional,
            ..Step::default()
        };
        if clause.is_conditional {
            return Some((step, None));
        }
        let is_known = |word: &str| self.names.contains(&word.to_lowercase());
        let query = said.query(self.task, &clause.span, &is_known);
        let selected = self.candidates(&query);
        let Some(chosen) = choose(&selected, self.task, &said, earlier) else {
            step.doubt = doubt::of_none(&said);
            step.nearest = selected.nearest.iter().map(|entry| entry.tool.clone()).collect();
            return Some((step, None));
        };
        let tools = selected.tools.iter().map(|(entry, _)| entry);
        step.selected = tools
            .chain([&chosen.entry])
            .map(|entry| entry.tool.clone())
            .collect();
        let result = self.call(&mut step, chosen, &said);
        Some((step, Some(result)))
    }

    fn candidates(&self, query: &str) -> Selected {
        let Some(required) = self.required else {
            return select(self.search, query, self.visible, self.request.threshold);
        };
        let is_required = |entry: &Entry| required.iter().any(|required| required.tool == entry.tool);
        let mut selected = select(self.search, query, &is_required, 0.0);
        if selected.tools.is_empty() {
            selected.tools = required.iter().map(|entry| (entry.clone(), 0.0)).collect();
        }
        selected
    }

    /// Writes the call into the step; what the step gives then.
    fn call(&self, step: &mut Step, chosen: Chosen, said: &Said) -> Earlier {
        let Chosen {
            entry,
            filled,
            others,
        } = chosen;
        step.doubt = doubt::of_call(self.task, said, &entry, &filled);
        let literals = said.literals.iter().enumerate();
        let server = Some(entry.tool.server.as_str());
        let literals = literals.filter(|(_, literal)| literal.kind.is_marked() && literal.text() != server);
        let left = literals.filter(|(at, _)| !filled.used.contains(at));
        step.unused = left
            .map(|(_, literal)| self.task[literal.span.clone()].to_owned())
            .collect();
        let references = said.references.iter().enumerate();
        let left = references.filter(|(at, reference)| reference.counts && !filled.referred.contains(at));
        step.unused
            .extend(left.map(|(_, reference)| reference.text.clone()));
        step.others = others.iter().map(|entry| entry.tool.clone()).collect();
        let output = entry.definition.output_schema();
        let output = output.as_ref().filter(|_| filled.repeated.is_none());
        let result = Earlier {
            step: self.steps.len() + 1,
            gives: output.map_or(Takes::Anything, parameters::of_result),
            fields: output.map(parameters::fields).unwrap_or_default(),
            arguments: filled.arguments.clone(),
        };
        step.call = Some(Call {
            entry,
            arguments: filled.arguments,
            missing: filled.missing,
            repeated: filled.repeated,
        });
        result
    }
}

// === impl Plan ===

impl Plan {
    /// Leaves to the caller's own code what it is for: the steps that call tools of its servers, and what is not understood.
    pub fn leave_to(&mut self, overrides: &Overrides) {
        if overrides.calls.is_empty() {
            return;
        }
        self.is_given = true;
        self.unknown = overrides.unknown(&self.discovered);
        for step in &mut self.steps {
            step.is_left = match &step.call {
                Some(call) => overrides.code_for(&call.entry).is_some(),
                None => true,
            };
        }
    }

    /// What keeps the task from being run, in words; nothing if it can be.
    pub fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = self.steps.iter().filter_map(|step| self.problem(step)).collect();
        let unknown = self.unknown.iter();
        problems.extend(unknown.map(|server| {
            format!("no tool is of the server '{server}', for which --task-specific-calls has a program; see `codeyard tools`")
        }));
        if self.steps.is_empty() && !self.is_given {
            problems.push(format!("there is nothing to do in {:?}", shortened(&self.task)));
        }
        if let (Some(language), false) = (self.language, problems.is_empty()) {
            problems.push(format!(
                "the task seems to be in {language}; only English is read"
            ));
        }
        problems
    }

    /// Why a step cannot be run.
    pub fn problem(&self, step: &Step) -> Option<String> {
        let text = shortened(&step.text);
        if step.is_left {
            return None;
        }
        if step.is_conditional {
            return Some(format!(
                "{text:?} is a condition or a repetition, which is not followed; pass the program of that part (--task-specific-calls)"
            ));
        }
        if let Some(doubt) = &step.doubt {
            return Some(format!("{text:?} {doubt}"));
        }
        let Some(call) = &step.call else {
            let near: Vec<String> = step.nearest.iter().map(ToolRef::to_string).collect();
            let nearest = || format!("; the nearest are {}", near.join(", "));
            let near = (!near.is_empty()).then(nearest).unwrap_or_default();
            return Some(format!(
                "no tool of {} answers {text:?}{near}",
                self.discovered.len()
            ));
        };
        let missing: Vec<String> = call
            .missing
            .iter()
            .map(|missing| format!("'{}': {}", missing.parameter, missing.hint))
            .collect();
        let tool = &call.entry.tool;
        if !missing.is_empty() {
            return Some(format!("{tool} needs {} (in {text:?})", missing.join("; and ")));
        }
        let is_lost = !step.unused.is_empty() && !verbs::reads(&call.entry);
        is_lost.then(|| {
            let unused: Vec<String> = step
                .unused
                .iter()
                .map(|unused| format!("{:?}", shortened(unused)))
                .collect();
            format!(
                "{tool} takes nothing like {}, so it may not be what {text:?} means",
                unused.join(", ")
            )
        })
    }

    /// What is worth knowing of a plan that can be run.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for step in &self.steps {
            let Some(call) = step.call.as_ref().filter(|_| !step.is_left) else {
                if step.is_left && step.call.is_none() {
                    let text = shortened(&step.text);
                    notes.push(format!(
                        "{text:?} is left to the program of --task-specific-calls"
                    ));
                }
                continue;
            };
            if !step.others.is_empty() {
                let others: Vec<String> = step.others.iter().map(ToolRef::to_string).collect();
                notes.push(format!(
                    "{} was taken for {:?}; as likely: {}",
                    call.entry.tool,
                    shortened(&step.text),
                    others.join(", ")
                ));
            }
            if !step.unused.is_empty() {
                let unused: Vec<String> = step
                    .unused
                    .iter()
                    .map(|unused| format!("{:?}", shortened(unused)))
                    .collect();
                notes.push(format!(
                    "{} takes nothing like {}, which is left out",
                    call.entry.tool,
                    unused.join(", ")
                ));
            }
        }
        notes
    }
}

// === impl Step ===

impl Step {
    /// Whether this, which has further words, is to be taken for the step before it: something that was missing is said, or
    /// something more, and the further words alone are no call that could be made.
    fn says_more_than(&self, before: &Step, own: Option<&Step>) -> bool {
        let (Some(call), Some(old)) = (&self.call, &before.call) else {
            return false;
        };
        let own = own.and_then(|own| own.call.as_ref());
        let is_own_call = own.is_some_and(|call| call.missing.is_empty());
        let says_more = call.arguments.len() > old.arguments.len();
        call.entry.tool == old.entry.tool
            && (call.missing.len() < old.missing.len() || says_more && !is_own_call)
    }
}

// === impl Missing ===

impl Missing {
    pub(crate) fn of(parameter: &Parameter) -> Missing {
        let name = &parameter.name;
        let shown = parameter.choices.first().or(parameter.example.as_ref());
        let example = match (shown, &parameter.takes, parameter.role) {
            (Some(shown), ..) => python::value(shown),
            (None, Takes::Integer | Takes::Number, _) => "5".to_owned(),
            (None, Takes::Boolean, _) => "true".to_owned(),
            (None, Takes::List(_), _) => "[\"one\", \"two\"]".to_owned(),
            (None, Takes::Object, _) => "{\"key\": \"value\"}".to_owned(),
            (None, _, Role::Path) => "notes.txt".to_owned(),
            (None, _, Role::Url) => "https://example.com".to_owned(),
            (None, _, Role::Email) => "ann@example.com".to_owned(),
            (None, _, Role::Date) => "2026-01-31".to_owned(),
            (None, _, Role::Expression) => "\"2 * (3 + 4)\"".to_owned(),
            (None, ..) => "\"...\"".to_owned(),
        };
        Missing {
            parameter: name.clone(),
            hint: format!("say for example {name}={example}"),
        }
    }
}

/// The tools of these names, each of which must be there.
fn required(tools: &Tools, discovered: &[Arc<Entry>]) -> Result<Vec<Arc<Entry>>, TaskError> {
    let named = tools
        .iter()
        .flat_map(|(server, tools)| tools.iter().map(move |tool| (server, tool)));
    named
        .map(|(server, tool)| {
            let is_it = |entry: &&Arc<Entry>| {
                (entry.tool.server == *server || entry.server_alias == *server)
                    && (entry.tool.tool == *tool || entry.alias == *tool)
            };
            let tool = || format!("{server}.{tool}");
            discovered
                .iter()
                .find(is_it)
                .cloned()
                .ok_or_else(|| TaskError::NoTool { tool: tool() })
        })
        .collect()
}

/// The words of the names of servers.
fn names(entries: &[Arc<Entry>]) -> BTreeSet<String> {
    let words = entries
        .iter()
        .flat_map(|entry| catalog::words(&entry.tool.server));
    words.map(str::to_lowercase).collect()
}

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    python::line(text, 80)
}
