//! The program of a plan: imports of the selected tools of the servers that it calls, and each call with what it prints.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use catalog::{Entry, PYTHON_KEYWORDS};
use serde_json::Value;

use crate::plan::{Argument, Call, Plan, Step};
use crate::{python, verbs};

/// What the caller says itself of the program.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// What the program begins with, as a comment.
    pub header: Option<String>,
    /// By server, in the order of the program: code in the place of the calls of that server's tools.
    pub calls: Vec<(String, String)>,
}

/// What programs print results with.
const RESULTS: &str = include_str!("results.py");

const HEADER: &str = "Made from the words of a task, without a language model.";

/// Names that the program has itself, and those of Python that it uses: a tool of such a name is imported under another. None
/// has capitals, as those of tools have none.
const TAKEN: &[&str] = &[
    "brief",
    "dict",
    "each",
    "error",
    "failed",
    "failures",
    "given",
    "isinstance",
    "json",
    "len",
    "list",
    "print",
    "results",
    "servers",
    "show",
    "str",
    "sys",
    "text",
    "type",
    "unbroken",
];

/// Characters of the task, or of a step, in a comment.
const LONGEST_COMMENT: usize = 200;

/// Writes the program. Steps that cannot be run are left out: see [`Plan::problems`].
pub fn program(plan: &Plan, overrides: &Overrides) -> String {
    let used = servers(plan, overrides);
    let imported: Vec<&Arc<Entry>> = imported(plan, overrides, &used);
    let names = local_names(&imported);
    let mut program = String::new();
    for line in overrides.header.as_deref().unwrap_or(HEADER).lines() {
        let line = python::line(line, LONGEST_COMMENT);
        let hash = if line.starts_with('#') { "" } else { "# " };
        let _ = writeln!(program, "{}", format!("{hash}{line}").trim_end());
    }
    // The task comes third at the earliest: a comment in the first two lines could name an encoding.
    let _ = writeln!(
        program,
        "#\n# Task: {}",
        python::line(&plan.task, LONGEST_COMMENT)
    );
    let body = body(plan, overrides, &names);
    if body.has_steps {
        program.push_str("import json\nimport sys\n\n");
    }
    imports(&mut program, &imported, &names);
    if body.has_steps {
        let _ = write!(program, "\n{RESULTS}\n");
    }
    program.push_str(&body.text);
    if body.has_steps {
        program.push_str("\nif failures:\n    sys.exit(1)\n");
    }
    program
}

// === impl Overrides ===

impl Overrides {
    /// Servers of the caller's code that none of the tools is of.
    pub(crate) fn unknown(&self, tools: &[Arc<Entry>]) -> Vec<String> {
        let is_of = |server: &String| {
            let mut tools = tools.iter();
            tools.any(|entry| *server == entry.tool.server || *server == entry.server_alias)
        };
        let servers = self.calls.iter().map(|(server, _)| server);
        servers.filter(|server| !is_of(server)).cloned().collect()
    }

    /// The caller's code for the server of this tool, with the server's name in the overrides.
    pub(crate) fn code_for(&self, entry: &Entry) -> Option<(&str, &str)> {
        let is_it =
            |(server, _): &&(String, String)| *server == entry.tool.server || *server == entry.server_alias;
        let found = self.calls.iter().find(is_it);
        found.map(|(server, code)| (server.as_str(), code.as_str()))
    }
}

// === impl Call ===

impl Call {
    /// The call as a program has it, but for the server's name before the tool's.
    pub fn text(&self) -> String {
        call_code(&self.entry.tool.to_string(), self)
    }
}

struct Body {
    text: String,
    /// Whether any of it was made from the plan.
    has_steps: bool,
}

fn body(plan: &Plan, overrides: &Overrides, names: &BTreeMap<String, String>) -> Body {
    let mut body = Body {
        text: String::new(),
        has_steps: false,
    };
    let mut written: BTreeSet<&str> = BTreeSet::new();
    for (at, step) in plan.steps.iter().enumerate() {
        let Some(call) = &step.call else { continue };
        match overrides.code_for(&call.entry) {
            Some((server, code)) if written.insert(server) => own_code(&mut body.text, server, code),
            Some(_) => {}
            None => {
                body.has_steps = true;
                step_code(&mut body.text, at + 1, step, call, names);
            }
        }
    }
    for (server, code) in &overrides.calls {
        if written.insert(server) {
            own_code(&mut body.text, server, code);
        }
    }
    body
}

fn own_code(text: &mut String, server: &str, code: &str) {
    let _ = writeln!(
        text,
        "\n# {}\n{}",
        python::line(server, LONGEST_COMMENT),
        code.trim_end()
    );
}

fn step_code(text: &mut String, number: usize, step: &Step, call: &Call, names: &BTreeMap<String, String>) {
    let key = call.entry.tool.to_string();
    let function = names.get(&key).map_or(call.entry.alias.as_str(), String::as_str);
    let expression = call_code(function, call);
    let label = python::string(&label(call));
    // What changes something may rest on what an earlier step should have done.
    let holds = if number == 1 || verbs::reads(&call.entry) {
        ""
    } else {
        "    unbroken()\n"
    };
    let _ = write!(
        text,
        "\n# {number}. {}\ntry:\n{holds}    results[{number}] = {expression}\n    show({label}, results[{number}])\nexcept Exception as error:\n    failed({number}, error)\n",
        python::line(&step.text, LONGEST_COMMENT),
    );
}

fn call_code(function: &str, call: &Call) -> String {
    let repeated = call.repeated.as_ref();
    let mut named = Vec::new();
    let mut packed = Vec::new();
    for (parameter, argument) in &call.arguments {
        let is_repeated = repeated.is_some_and(|(name, _)| name == parameter);
        let value = if is_repeated {
            "each".to_owned()
        } else {
            argument_code(argument)
        };
        if is_name(parameter) {
            named.push(format!("{parameter}={value}"));
        } else {
            packed.push(format!("{}: {value}", python::string(parameter)));
        }
    }
    if !packed.is_empty() {
        named.push(format!("**{{{}}}", packed.join(", ")));
    }
    let once = format!("{function}({})", named.join(", "));
    let Some((parameter, values)) = repeated else {
        return once;
    };
    let first = call.arguments.iter().find(|(name, _)| name == parameter);
    let first = first.map(|(_, argument)| argument_code(argument));
    let all: Vec<String> = first
        .into_iter()
        .chain(values.iter().map(python::value))
        .collect();
    format!("[{once} for each in [{}]]", all.join(", "))
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

/// What stands before a result: the arithmetic if the call is nothing else, else the tool.
fn label(call: &Call) -> String {
    match call.arguments.as_slice() {
        [(_, Argument::Value(Value::String(text)))] if is_arithmetic(text) => format!("{text} ="),
        _ => format!("{}:", call.entry.tool),
    }
}

fn is_arithmetic(text: &str) -> bool {
    let digits = text.contains(|c: char| c.is_ascii_digit());
    digits
        && text.contains(|c| "+-*/%^".contains(c))
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || " .,+-*/%^()".contains(c))
}

/// The servers that the program calls.
fn servers(plan: &Plan, overrides: &Overrides) -> BTreeSet<String> {
    let called = plan.steps.iter().filter_map(|step| step.call.as_ref());
    let called = called.map(|call| call.entry.tool.server.clone());
    let own = plan
        .discovered
        .iter()
        .filter(|entry| overrides.code_for(entry).is_some());
    called.chain(own.map(|entry| entry.tool.server.clone())).collect()
}

/// What is imported: of each server that is called the selected tools, and those that the caller's own code names.
fn imported<'a>(plan: &'a Plan, overrides: &Overrides, used: &BTreeSet<String>) -> Vec<&'a Arc<Entry>> {
    let is_selected = |entry: &Entry| plan.selected.iter().any(|selected| selected.tool == entry.tool);
    let is_named = |entry: &Entry| {
        let code = overrides.code_for(entry).map(|(_, code)| code);
        code.is_some_and(|code| {
            code.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .any(|word| word == entry.alias)
        })
    };
    let wanted =
        |entry: &&Arc<Entry>| used.contains(&entry.tool.server) && (is_selected(entry) || is_named(entry));
    plan.discovered.iter().filter(wanted).collect()
}

/// Under which name each tool is called: its own, unless another has it.
fn local_names(imported: &[&Arc<Entry>]) -> BTreeMap<String, String> {
    let is_free = |entry: &Entry| {
        let same = imported.iter().filter(|other| other.alias == entry.alias);
        same.count() == 1 && !TAKEN.contains(&entry.alias.as_str())
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

/// Whether Python takes it as the name of an argument.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !PYTHON_KEYWORDS.contains(&name)
}
