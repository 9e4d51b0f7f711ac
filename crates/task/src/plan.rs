//! The plan of a task: its steps, the tool that each calls, with which arguments, and what is not known.

mod told;
mod unused;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
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
use crate::language::{self, English};
use crate::literals::{Literal, literals};
use crate::parameters::{self, Takes};
use crate::program::Overrides;
use crate::select::{Selected, select};
use crate::{doubt, verbs, vocabulary};
use unused::unused;

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
    /// Words that nothing accounts for; only where the tool changes something.
    pub not_understood: Vec<String>,
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
    let words = LazyCell::new(|| words(&discovered));
    let is_known =
        |word: &str| words.contains(word) || words.contains(word.strip_suffix('s').unwrap_or(word));
    let english = English {
        is_verb: &is_verb,
        is_known: &is_known,
    };
    let language = language::foreign(task, &literals, &english);
    let mut planning = Planning {
        request,
        search,
        visible,
        task,
        names: names(&discovered),
        english: &english,
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
        language,
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
    english: &'a English<'a>,
    required: Option<&'a [Arc<Entry>]>,
    literals: Vec<Literal>,
    earlier: Vec<Earlier>,
    /// The instruction of the last step.
    last: Option<Clause>,
    steps: Vec<Step>,
}

impl Planning<'_> {
    /// Plans one instruction. What only tells something belongs to the step before it, if that needs it or says more by it;
    /// or else to the step after it.
    fn take(&mut self, clause: Clause) {
        let own = self.step(&clause, &self.earlier);
        let own_step = own.as_ref().map(|(step, _)| step);
        if let (Some(before), Some(last)) = (self.last.take(), self.steps.last()) {
            let known = self.earlier.len() - usize::from(last.call.is_some());
            let says_more = |joined: &Step| match (clause.is_telling, own_step) {
                (true, _) => joined.says_more_than(last, own_step),
                (false, Some(own)) => {
                    before.is_telling && !last.is_whole() && joined.says_more_than(own, None)
                }
                (false, None) => false,
            };
            let whole = Clause {
                span: before.span.start..clause.span.end,
                is_telling: before.is_telling && clause.is_telling,
                ..before
            };
            let may_join = clause.is_telling || before.is_telling;
            let joined = may_join
                .then(|| self.step(&whole, &self.earlier[..known]))
                .flatten();
            if let Some(joined) = joined.filter(|(step, _)| says_more(step)) {
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
        if said.is_courtesy() || !earlier.is_empty() && said.only_shows() {
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
        if language::is_unknown(self.task, &clause.span, &self.literals, self.english) {
            step.doubt = Some(
                "begins with no English verb or question word that is known, and may be in another language; only English is read"
                    .to_owned(),
            );
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
        step.unused = unused(self.task, said, &entry, &filled);
        step.not_understood = doubt::words_left(self.task, said, &entry, &filled);
        step.others = others.iter().map(|entry| entry.tool.clone()).collect();
        let output = entry.definition.output_schema();
        let output = output.as_ref().filter(|_| filled.repeated.is_none());
        let result = Earlier {
            step: self.steps.len() + 1,
            gives: output.map_or(Takes::Anything, parameters::of_result),
            fields: output.map(parameters::fields).unwrap_or_default(),
            arguments: filled.arguments.clone(),
            reads: verbs::reads(&entry),
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
        for at in 0..self.steps.len() {
            let lacking = self.lacking(&self.steps[at], overrides);
            let step = &mut self.steps[at];
            step.doubt = step.doubt.take().or(lacking);
        }
    }

    /// What a step needs of a step that is left to the caller's own code, if that does not give it.
    fn lacking(&self, step: &Step, overrides: &Overrides) -> Option<String> {
        let call = step.call.as_ref().filter(|_| !step.is_left)?;
        let code = |number: usize| {
            let left = self.steps.get(number - 1).filter(|left| left.is_left)?;
            overrides.code_for(&left.call.as_ref()?.entry)
        };
        let mut arguments = call.arguments.iter().map(|(_, argument)| argument);
        arguments.find_map(|argument| match argument {
            Argument::Result { step, .. } => {
                let (server, code) = code(*step)?;
                let result = format!("results[{step}]");
                (!code.contains(&result)).then(|| {
                    format!("needs the result of step {step}, which is left to the program for '{server}' (--task-specific-calls); let that set {result} = ...")
                })
            }
            Argument::Value(_) => None,
        })
    }
}

// === impl Step ===

impl Step {
    /// Whether it calls something and lacks nothing.
    fn is_whole(&self) -> bool {
        self.call.as_ref().is_some_and(|call| call.missing.is_empty())
    }

    /// Whether this, which has further words, is to be taken for the step before it: something that was missing is said, or
    /// something more, and the further words alone are no call that could be made.
    fn says_more_than(&self, before: &Step, own: Option<&Step>) -> bool {
        let (Some(call), Some(old)) = (&self.call, &before.call) else {
            return false;
        };
        let is_own_call = own.is_some_and(Step::is_whole);
        let says_more = call.arguments.len() > old.arguments.len();
        call.entry.tool == old.entry.tool
            && (call.missing.len() < old.missing.len() || says_more && !is_own_call)
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

/// The words of names, descriptions and schemas, in small letters.
fn words(entries: &[Arc<Entry>]) -> HashSet<String> {
    let texts = entries
        .iter()
        .flat_map(|entry| [entry.tool.server.as_str(), entry.definition.definition().get()]);
    texts.flat_map(catalog::words).map(str::to_lowercase).collect()
}
