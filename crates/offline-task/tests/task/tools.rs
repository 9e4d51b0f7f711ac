//! Tools for tests: the sample tools as discovered, and unrelated ones.

use std::sync::Arc;

use catalog::{Catalog, Search};
use offline_task::{Argument, DEFAULT_THRESHOLD, PlanRequest, PlannedCall, TaskPlan, plan};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use types::{ServerTools, Tool};

/// The eleven sample tools, with further servers.
pub fn samples(more: &[(&str, Value)]) -> Search {
    let samples: Value = serde_json::from_str(include_str!("sample.json")).expect("JSON");
    let samples = samples.as_object().expect("servers").clone();
    let more = more
        .iter()
        .map(|(name, tools)| ((*name).to_owned(), tools.clone()));
    search(samples.into_iter().chain(more))
}

pub fn search(servers: impl IntoIterator<Item = (String, Value)>) -> Search {
    let tool =
        |definition: &Value| Arc::new(Tool::parse(to_raw_value(definition).expect("JSON")).expect("a tool"));
    let server = |(name, tools): (String, Value)| ServerTools {
        name,
        description: None,
        cwd: None,
        tools: Some(
            tools
                .as_array()
                .expect("tools")
                .iter()
                .map(tool)
                .collect::<Vec<_>>()
                .into(),
        ),
    };
    let servers: Vec<ServerTools> = servers.into_iter().map(server).collect();
    Search::build(Arc::new(Catalog::build(&servers)))
}

/// A definition with parameters as name and schema; the first `required` are required.
pub fn tool(name: &str, description: &str, required: usize, parameters: &[(&str, Value)]) -> Value {
    let properties: serde_json::Map<String, Value> = parameters
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    let required: Vec<&str> = parameters.iter().take(required).map(|(name, _)| *name).collect();
    json!({"name": name, "description": description,
           "inputSchema": {"type": "object", "properties": properties, "required": required}})
}

/// The tool of C179.
pub fn units() -> (&'static str, Value) {
    let convert = tool(
        "convert",
        "Convert a length from one unit to another.",
        3,
        &[
            ("value", json!({"type": "number"})),
            ("from_unit", json!({"type": "string"})),
            ("to_unit", json!({"type": "string"})),
        ],
    );
    ("units", json!([convert]))
}

/// A request with nothing but a text.
pub fn request(text: &str) -> PlanRequest<'_> {
    PlanRequest {
        text,
        threshold: DEFAULT_THRESHOLD,
        required: None,
    }
}

pub fn planned(search: &Search, text: &str) -> TaskPlan {
    plan(&request(text), search, &|_| true).expect("a plan")
}

/// Checks each step's form: its call, or a part of its problem.
pub fn check(search: &Search, text: &str, expected: &[&str]) {
    let calls = calls(&planned(search, text));
    let is_it = |(call, expected): (&String, &&str)| {
        call == expected || !expected.ends_with([')', ']']) && call.contains(expected)
    };
    let all = calls.len() == expected.len() && calls.iter().zip(expected).all(is_it);
    assert!(all, "{text}: {calls:#?}");
}

pub fn selected(plan: &TaskPlan) -> Vec<String> {
    plan.selected.iter().map(|entry| entry.tool.to_string()).collect()
}

/// Each step as its call, or its problem.
pub fn calls(plan: &TaskPlan) -> Vec<String> {
    let steps = plan
        .steps
        .iter()
        .map(|step| match (&step.call, step.problem.clone()) {
            (_, Some(problem)) => problem,
            (Some(call), None) => shown(call),
            (None, None) => String::new(),
        });
    steps.chain(plan.notes()).collect()
}

pub fn shown(call: &PlannedCall) -> String {
    let passed = |argument: &Argument| match argument {
        Argument::Value(value) => value.to_string(),
        Argument::Result { step, field, as_text } => {
            let field = field
                .as_ref()
                .map(|field| format!(".{field}"))
                .unwrap_or_default();
            let text = if *as_text { " as text" } else { "" };
            format!("<{step}{field}{text}>")
        }
    };
    let arguments: Vec<String> = call
        .arguments
        .iter()
        .map(|(name, argument)| format!("{name}={}", passed(argument)))
        .collect();
    format!("{}({})", call.entry.tool, arguments.join(", "))
}
