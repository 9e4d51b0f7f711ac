//! Step 6: a plan's program: imports the selected tools of the called servers, makes each call and
//! prints each result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use catalog::{Entry, PYTHON_KEYWORDS};
use serde_json::Value;

use crate::call::{Argument, PlannedCall};
use crate::plan::{PlannedStep, TaskPlan};
use crate::vocabulary::WordList;
use crate::{python, verbs};

/// The caller's own parts of the program.
#[derive(Debug, Clone, Default)]
pub struct ProgramOverrides {
    /// The comment at the top.
    pub header: Option<String>,
    /// Code by server that replaces the calls of its tools, in the order of the program.
    pub calls: Vec<(String, String)>,
}

/// Functions that print results.
const RESULTS: &str = include_str!("results.py");

const HEADER: &str = "Made from the words of a task, without a language model.";

/// Names that the program defines or uses from Python. A tool of such a name is imported under another.
const TAKEN: WordList = WordList(
    "brief dict error failed failures given isinstance json len list print results servers show str sys text type unbroken",
);

/// Characters of the task, or of a step, in a comment.
const MAX_COMMENT: usize = 200;

/// Writes the program. Leaves out steps that cannot be run: see [`TaskPlan::problems`].
pub fn program(plan: &TaskPlan, overrides: &ProgramOverrides) -> String {
    let imported = imported(plan, overrides);
    let names = local_names(&imported);
    let (body, has_steps) = body(plan, overrides, &names);
    let mut program = String::new();
    for line in overrides.header.as_deref().unwrap_or(HEADER).lines() {
        let line = python::line(line, MAX_COMMENT);
        let hash = if line.starts_with('#') { "" } else { "# " };
        let _ = writeln!(program, "{}", format!("{hash}{line}").trim_end());
    }
    // Python reads an encoding from a comment in the first two lines, so the task comes later.
    let _ = writeln!(program, "#\n# Task: {}", python::line(&plan.task, MAX_COMMENT));
    if has_steps {
        program.push_str("import json\nimport sys\n\n");
    }
    imports(&mut program, &imported, &names);
    match has_steps {
        true => program.push_str(&format!("\n{RESULTS}\n{body}\nif failures:\n    sys.exit(1)\n")),
        false => program.push_str(&body),
    }
    program
}

// === impl ProgramOverrides ===

impl ProgramOverrides {
    /// Servers in the caller's code without any of the tools.
    pub(crate) fn unknown_servers(&self, tools: &[Arc<Entry>]) -> Vec<String> {
        let is_of = |server: &String| tools.iter().any(|entry| is_server(server, entry));
        let servers = self.calls.iter().map(|(server, _)| server);
        servers.filter(|server| !is_of(server)).cloned().collect()
    }

    /// The caller's code for this tool's server, with the server's name in the overrides.
    pub(crate) fn code_for(&self, entry: &Entry) -> Option<(&str, &str)> {
        let found = self.calls.iter().find(|(server, _)| is_server(server, entry));
        found.map(|(server, code)| (server.as_str(), code.as_str()))
    }
}

/// Whether this is the server's name in the configuration or in programs.
pub(crate) fn is_server(server: &str, entry: &Entry) -> bool {
    server == entry.tool.server || server == entry.server_alias
}

// === impl PlannedCall ===

impl PlannedCall {
    /// The call as in the program, with the server's name before the tool's.
    pub fn text(&self) -> String {
        call_code(&self.entry.tool.to_string(), self)
    }
}

/// The calls and the caller's code, and whether a step of the plan is among them.
fn body(plan: &TaskPlan, overrides: &ProgramOverrides, names: &BTreeMap<String, String>) -> (String, bool) {
    let (mut body, mut has_steps) = (String::new(), false);
    let mut written: BTreeSet<&str> = BTreeSet::new();
    for (at, step) in plan.steps.iter().enumerate() {
        let Some(call) = &step.call else { continue };
        match overrides.code_for(&call.entry) {
            Some((server, code)) if written.insert(server) => own_code(&mut body, server, code),
            Some(_) => {}
            None => {
                has_steps = true;
                step_code(&mut body, at + 1, step, call, names);
            }
        }
    }
    for (server, code) in &overrides.calls {
        if written.insert(server) {
            own_code(&mut body, server, code);
        }
    }
    (body, has_steps)
}

fn own_code(text: &mut String, server: &str, code: &str) {
    let _ = writeln!(
        text,
        "\n# {}\n{}",
        python::line(server, MAX_COMMENT),
        code.trim_end()
    );
}

fn step_code(
    text: &mut String,
    number: usize,
    step: &PlannedStep,
    call: &PlannedCall,
    names: &BTreeMap<String, String>,
) {
    let key = call.entry.tool.to_string();
    let function = names.get(&key).map_or(call.entry.alias.as_str(), String::as_str);
    let expression = call_code(function, call);
    let label = python::string(&label(call));
    // A changing call may rely on an earlier step.
    let is_first = number == 1 || verbs::reads(&call.entry);
    let holds = if is_first { "" } else { "    unbroken()\n" };
    let _ = write!(
        text,
        "\n# {number}. {}\ntry:\n{holds}    results[{number}] = {expression}\n    show({label}, results[{number}])\nexcept Exception as error:\n    failed({number}, error)\n",
        python::line(&step.text, MAX_COMMENT),
    );
}

fn call_code(function: &str, call: &PlannedCall) -> String {
    let (mut named, mut packed) = (Vec::new(), Vec::new());
    for (parameter, argument) in &call.arguments {
        let value = argument_code(argument);
        match is_name(parameter) {
            true => named.push(format!("{parameter}={value}")),
            false => packed.push(format!("{}: {value}", python::string(parameter))),
        }
    }
    if !packed.is_empty() {
        named.push(format!("**{{{}}}", packed.join(", ")));
    }
    format!("{function}({})", named.join(", "))
}

fn argument_code(argument: &Argument) -> String {
    match argument {
        Argument::Value(value) => python::value(value),
        Argument::Result { step, field, as_text } => {
            let given = match field {
                Some(field) => format!("given({step}, {})", python::string(field)),
                None => format!("given({step})"),
            };
            if *as_text { format!("text({given})") } else { given }
        }
    }
}

/// The label of a result: the arithmetic if that is the only argument, else the tool.
fn label(call: &PlannedCall) -> String {
    match call.arguments.as_slice() {
        [(_, Argument::Value(Value::String(text)))] if is_arithmetic(text) => format!("{text} ="),
        _ => format!("{}:", call.entry.tool),
    }
}

fn is_arithmetic(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || " .,+-*/%^()".contains(c);
    let has_digit = text.contains(|c: char| c.is_ascii_digit());
    has_digit && text.contains(|c| "+-*/%^".contains(c)) && text.chars().all(is_part)
}

/// Imported tools: for each called server, the selected tools and those in the caller's code.
fn imported<'a>(plan: &'a TaskPlan, overrides: &ProgramOverrides) -> Vec<&'a Arc<Entry>> {
    let calls = || plan.steps.iter().filter_map(|step| step.call.as_ref());
    let is_wanted = |entry: &&Arc<Entry>| {
        let code = overrides.code_for(entry).map(|(_, code)| code);
        let is_called = code.is_some() || calls().any(|call| call.entry.tool.server == entry.tool.server);
        let is_selected = plan.selected.iter().any(|selected| selected.tool == entry.tool);
        let code = code.unwrap_or_default();
        let mut words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        is_called && (is_selected || words.any(|word| word == entry.alias))
    };
    plan.discovered.iter().filter(is_wanted).collect()
}

/// Name of each tool in the program: its own, unless taken.
fn local_names(imported: &[&Arc<Entry>]) -> BTreeMap<String, String> {
    let is_free = |entry: &Entry| {
        let same = imported.iter().filter(|other| other.alias == entry.alias);
        same.count() == 1 && !TAKEN.has(&entry.alias)
    };
    let mut names = BTreeMap::new();
    let mut given: BTreeSet<String> = imported.iter().map(|entry| entry.alias.clone()).collect();
    for entry in imported {
        let mut name = entry.alias.clone();
        if !is_free(entry) {
            name = format!("{}_{}", entry.server_alias, entry.alias);
            while !given.insert(name.clone()) {
                name.push('_');
            }
        }
        names.insert(entry.tool.to_string(), name);
    }
    names
}

fn imports(program: &mut String, imported: &[&Arc<Entry>], names: &BTreeMap<String, String>) {
    let mut by_server: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in imported {
        let local = names.get(&entry.tool.to_string()).unwrap_or(&entry.alias);
        let import = match *local == entry.alias {
            true => local.clone(),
            false => format!("{} as {local}", entry.alias),
        };
        by_server.entry(&entry.server_alias).or_default().push(import);
    }
    for (server, tools) in by_server {
        let _ = writeln!(program, "from servers.{server} import {}", tools.join(", "));
    }
}

/// Whether Python accepts the name for an argument.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !PYTHON_KEYWORDS.contains(&name)
}
