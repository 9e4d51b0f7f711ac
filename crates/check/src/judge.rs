//! Compares a program's calls with the available tools.

mod fields;
mod unknown;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use catalog::{ArgumentValidator, Catalog, Entry, Learned, StaticArguments, nearest, python_string};
use serde_json::Value;

use crate::program::{Call, Form, Given, Mistake, MistakeKind, Program};
use crate::report::{Certainty, Draft, Finding, FindingText, Report};

/// Longest signature in a finding, in bytes; without the result.
const MAX_SIGNATURE: usize = 500;

/// Longest name in a finding, in bytes.
const MAX_NAME: usize = 80;

/// The tools as one principal sees them.
pub struct View<'a> {
    /// Every server's tools, hidden ones included.
    pub catalog: &'a Catalog,
    /// Whether the principal may call a tool. A denied call fails by itself; its tool is never suggested.
    pub may_call: &'a dyn Fn(&Entry) -> bool,
    /// The compiled check of a tool's arguments.
    pub check: &'a dyn Fn(&Entry) -> Arc<ArgumentValidator>,
    /// The observed shape of a tool's results.
    pub learned: &'a dyn Fn(&Entry) -> Option<Arc<Learned>>,
    /// Whether a tool is a function that also accepts positional arguments.
    pub takes_positional: &'a dyn Fn(&Entry) -> bool,
    /// Tools without a server, which Codeyard answers itself.
    pub own_tools: &'a [&'a str],
}

/// Finds calls that would fail. Tools that the catalog does not know yet are accepted.
pub fn judge(program: &Program, view: &View<'_>) -> Report {
    let mut drafts = Vec::new();
    let mut wrong: HashMap<(Form, &str, &str), usize> = HashMap::new();
    let mut entries = Vec::with_capacity(program.calls.len());
    for (number, call) in program.calls.iter().enumerate() {
        let entry = match view.find(call) {
            Callee::Tool(entry) => Some(entry),
            Callee::Nothing => {
                let names = (call.form, call.server.as_str(), call.tool.as_str());
                drafts.push(Draft {
                    line: named_in(program, call),
                    weight: weight(call),
                    said: FindingText::WrongNames(*wrong.entry(names).or_insert(number)),
                });
                None
            }
            Callee::Uncertain => None,
        };
        if let Some(entry) = &entry {
            drafts.extend(arguments(call, entry, view).map(Draft::from));
        }
        entries.push(entry);
    }
    let mistakes = program.mistakes.iter();
    let mistakes = mistakes.map(|mistake| told(mistake, &program.calls[mistake.call]));
    drafts.extend(mistakes.map(Draft::from));
    drafts.extend(
        fields::judge(program, &entries, view)
            .into_iter()
            .map(Draft::from),
    );
    let instead = |call: usize| view.instead(&program.calls[call]);
    Report::of(drafts, instead, program.unchecked())
}

/// The line that names the tool: its import, otherwise the call.
fn named_in(program: &Program, call: &Call) -> u32 {
    let mut imports = program.imports.iter();
    let import = imports.find(|import| import.server == call.server && import.tool == call.tool);
    import.map_or(call.line, |import| import.line)
}

/// A failing call need not fail the program.
fn weight(call: &Call) -> Certainty {
    if call.is_expected {
        Certainty::Warning
    } else {
        Certainty::Error
    }
}

/// What a call's names resolve to.
enum Callee {
    Tool(Arc<Entry>),
    Nothing,
    Uncertain,
}

/// The tool and its parameters, as a call of this form writes them.
fn signature(form: Form, entry: &Entry) -> String {
    if form == Form::TypeScript {
        let call = entry.typescript_call();
        let call = if call.len() > MAX_SIGNATURE {
            format!("{}({{ ... }})", entry.alias)
        } else {
            call
        };
        return format!("tools.{}.{call}", entry.server_alias);
    }
    if form == Form::Shell {
        let call = entry.shell_call();
        return match call.len() > MAX_SIGNATURE {
            true => format!("mcp call {}.{} …", entry.server_alias, entry.alias),
            false => call,
        };
    }
    let whole = entry.signature();
    let call = whole.rsplit_once(" -> ").map_or(whole, |(call, _)| call);
    let root = match form {
        Form::Tools | Form::Data | Form::TypeScript | Form::Shell => "tools.",
        Form::Bridge => "mcp_",
        Form::Blocking => "servers.",
    };
    let call = if call.len() > MAX_SIGNATURE {
        format!("{}(...)", entry.alias)
    } else {
        call.to_owned()
    };
    format!("{root}{}.{call}", entry.server_alias)
}

/// The call as written, without its arguments.
fn label(call: &Call) -> String {
    match call.form {
        Form::Tools | Form::TypeScript => format!("tools.{}.{}", shown(&call.server), shown(&call.tool)),
        Form::Shell => format!("mcp call {}.{}", shown(&call.server), shown(&call.tool)),
        Form::Bridge if call.server.is_empty() => shown(&call.tool),
        Form::Bridge => format!("mcp_{}.{}", shown(&call.server), shown(&call.tool)),
        Form::Blocking => format!("servers.{}.{}", shown(&call.server), shown(&call.tool)),
        Form::Data if call.server.is_empty() => python_string(&call.tool, MAX_NAME),
        Form::Data => format!(
            "{}, {}",
            python_string(&call.server, MAX_NAME),
            python_string(&call.tool, MAX_NAME)
        ),
    }
}

/// Quoted unless it is a valid Python name.
fn shown(name: &str) -> String {
    if name.chars().all(|c| c.is_alphanumeric() || c == '_') && name.len() <= MAX_NAME {
        name.to_owned()
    } else {
        python_string(name, MAX_NAME)
    }
}

fn told(mistake: &Mistake, call: &Call) -> Finding {
    let label = label(call);
    let text = match mistake.kind {
        MistakeKind::NeverAwaited => format!("{label}(...) is never awaited; write await {label}(...)"),
        MistakeKind::UsedUnawaited => {
            format!("{label}(...) is used before it is awaited; write (await {label}(...))")
        }
        MistakeKind::AwaitedResult => {
            format!("{label}(...) blocks and gives its result at once; write it without await")
        }
    };
    Finding {
        line: mistake.line,
        weight: Certainty::Error,
        text,
    }
}

fn arguments(call: &Call, entry: &Entry, view: &View<'_>) -> Option<Finding> {
    let given = match &call.arguments {
        Given::Positional(_) if (view.takes_positional)(entry) => return None,
        Given::Positional(given) => given,
        given => given,
    };
    let (weight, problem) = match given {
        Given::Unknown | Given::Positional(_) => return None,
        Given::Wrong(what) if call.form == Form::TypeScript => {
            (weight(call), format!("takes one object of arguments, not {what}"))
        }
        Given::Wrong(what) if call.form == Form::Shell => (
            weight(call),
            format!("takes words like key=value or one JSON object, not {what}"),
        ),
        Given::Wrong(what) => (
            weight(call),
            format!("takes keyword arguments or one mapping, not {what}"),
        ),
        Given::Mapping(partial) => {
            let partial = &with_words(call, entry, partial);
            match entry.contradictions(&(view.check)(entry), partial) {
                problems if problems.is_empty() => (Certainty::Warning, undeclared(entry, partial)?),
                problems => (weight(call), problems.join("; ")),
            }
        }
    };
    Some(Finding {
        line: call.line,
        weight,
        text: format!(
            "{}: {problem}; write {}",
            label(call),
            signature(call.form, entry)
        ),
    })
}

/// The arguments, with those that are words as the tool's schema reads them.
fn with_words<'p>(call: &Call, entry: &Entry, partial: &'p StaticArguments) -> Cow<'p, StaticArguments> {
    if call.words.is_empty() {
        return Cow::Borrowed(partial);
    }
    let mut read = partial.clone();
    entry.read_words(&mut read.arguments, &call.words);
    Cow::Owned(read)
}

/// An undeclared argument, if the schema neither forbids nor allows others.
fn undeclared(entry: &Entry, partial: &StaticArguments) -> Option<String> {
    let name = partial.arguments.keys().find(|name| !entry.declares(name))?;
    let schema = entry.definition.input_schema();
    let says_more = [
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "$ref",
        "dependentSchemas",
    ];
    let properties = schema.get("properties").and_then(Value::as_object)?;
    if properties.is_empty() || says_more.iter().any(|word| schema.get(word).is_some()) {
        return None;
    }
    let quoted = python_string(name, MAX_NAME);
    let free = properties
        .keys()
        .filter(|known| !partial.arguments.contains_key(*known));
    Some(match nearest(name, free.map(String::as_str)) {
        Some(near) => format!(
            "declares no argument {quoted}; did you mean {}?",
            python_string(near, MAX_NAME)
        ),
        None => format!("declares no argument {quoted}"),
    })
}
