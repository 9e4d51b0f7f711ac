//! Turns a file's tool function into a definition such as a server lists.

use std::collections::HashMap;

use ruff_python_ast::{Expr, Parameter, ParameterWithDefault, Parameters, Stmt, StmtFunctionDef};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use types::{ANY_RESULT, Tool};

use crate::annotation::{Annotations, MAX_DEFINITION, accept_null, constant};
use crate::classes::Classes;
use crate::docstring::{self, ParameterDoc};
use crate::read::line_of;

const MAX_PARAMETERS: usize = 256;

pub(crate) struct Described {
    pub(crate) tool: Tool,
    pub(crate) function: String,
    /// Parameters that can be given by position, in order.
    pub(crate) positional: Vec<String>,
    /// Parameters that can be given by name.
    pub(crate) names: Vec<String>,
    pub(crate) required: Vec<String>,
    /// Parameters that a Python program cannot give by name.
    pub(crate) unnamed: Vec<String>,
    /// Whether it accepts other names.
    pub(crate) is_open: bool,
    /// Warnings that do not prevent its use, with lines.
    pub(crate) notes: Vec<(u32, String)>,
}

/// The line, and why there is no tool.
type NoTool = (Option<u32>, String);

/// The tool of this name in a file's statements.
pub(crate) fn describe(body: &[Stmt], source: &str, name: &str) -> Result<Described, NoTool> {
    let functions: Vec<&StmtFunctionDef> = body
        .iter()
        .filter_map(|statement| statement.as_function_def_stmt())
        .filter(|function| !function.name.starts_with('_'))
        .collect();
    // A later definition of a name replaces an earlier one.
    let named = functions
        .iter()
        .rev()
        .find(|function| function.name.as_str() == name);
    let Some(function) = named.or(functions.first()).copied() else {
        let why = format!("has no function at its top level; write `def {name}(...):` with a docstring");
        return Err((None, why));
    };
    let line = line_of(source, function.name.range.start());
    let mut notes = Vec::new();
    if named.is_none() && functions.len() > 1 {
        let first = &function.name;
        notes.push((
            line,
            format!(
                "has {} functions and none is named `{name}`: the tool is the first one, `{first}`; name the one that is \
                 meant `{name}`, or begin the names of the others with `_`",
                functions.len()
            ),
        ));
    }
    if function.parameters.vararg.is_some() {
        let message = "`*args` cannot be given by name: the tool is called without them; name each parameter";
        notes.push((line, message.to_owned()));
    }
    let written = docstring_of(function).map(|text| docstring::clean(&text));
    let written = written.filter(|text| !text.trim().is_empty());
    if written.is_none() {
        let message = format!(
            "`{}` has no docstring: searches find it by its name only; write one",
            function.name
        );
        notes.push((line, message));
    }
    let tool = definition(function, name, written, &Classes::of(body)).map_err(|why| (Some(line), why))?;
    let parameters = &*function.parameters;
    let all = || parameters.iter_non_variadic_params();
    let name_of = |parameter: &ParameterWithDefault| parameter.parameter.name.to_string();
    let by_position = parameters.posonlyargs.iter().chain(&parameters.args);
    Ok(Described {
        tool,
        positional: by_position.map(name_of).collect(),
        names: all().map(name_of).collect(),
        required: all()
            .filter(|parameter| parameter.default.is_none())
            .map(name_of)
            .collect(),
        unnamed: parameters.posonlyargs.iter().map(name_of).collect(),
        is_open: parameters.kwarg.is_some(),
        function: function.name.to_string(),
        notes,
    })
}

fn definition(
    function: &StmtFunctionDef,
    name: &str,
    written: Option<String>,
    classes: &Classes<'_>,
) -> Result<Tool, String> {
    if function.parameters.len() > MAX_PARAMETERS {
        return Err(format!(
            "has more than {MAX_PARAMETERS} parameters; pass a mapping instead"
        ));
    }
    let mut annotations = Annotations::new(classes);
    let said = written.as_deref().map(docstring::parameters).unwrap_or_default();
    let input = input(&function.parameters, &said, &mut annotations);
    let description = written.unwrap_or_else(|| plain(name, &function.parameters));
    let mut definition = json!({"name": name, "description": description, "inputSchema": input});
    let output = function
        .returns
        .as_deref()
        .map(|returns| annotations.schema(returns));
    match output.filter(|output| !output.is_empty()) {
        Some(output) => definition["outputSchema"] = Value::Object(output),
        None => definition["_meta"] = json!({ANY_RESULT: true}),
    }
    let too_long = || {
        format!(
            "has a definition of more than {} KiB; shorten the names and texts of its types, or use fewer of them",
            MAX_DEFINITION / 1024
        )
    };
    if annotations.is_too_long() {
        return Err(too_long());
    }
    let raw = to_raw_value(&definition).map_err(|error| format!("cannot be described: {error}"))?;
    if raw.get().len() > MAX_DEFINITION {
        return Err(too_long());
    }
    Tool::parse(raw).map_err(|error| format!("cannot be described: {error}"))
}

/// JSON Schema of all parameters that can be given by name.
fn input(
    parameters: &Parameters,
    said: &HashMap<String, ParameterDoc>,
    annotations: &mut Annotations<'_>,
) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in parameters.iter_non_variadic_params() {
        let name = parameter.parameter.name.as_str();
        let mut schema = of_parameter(&parameter.parameter, said.get(name), annotations);
        match parameter.default.as_deref() {
            None => required.push(name),
            Some(default) => {
                if let Some(value) = constant(default) {
                    if value.is_null() {
                        accept_null(&mut schema);
                    }
                    schema.insert("default".to_owned(), value);
                }
            }
        }
        properties.insert(name.to_owned(), Value::Object(schema));
    }
    let mut input = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        input["required"] = json!(required);
    }
    if parameters.kwarg.is_none() {
        input["additionalProperties"] = Value::Bool(false);
    }
    input
}

fn of_parameter(
    parameter: &Parameter,
    said: Option<&ParameterDoc>,
    annotations: &mut Annotations<'_>,
) -> Map<String, Value> {
    let mut schema = match (parameter.annotation.as_deref(), said) {
        (Some(annotation), _) => annotations.schema(annotation),
        (
            None,
            Some(ParameterDoc {
                annotation: Some(text),
                ..
            }),
        ) => annotations.schema_of_text(text),
        (None, _) => Map::new(),
    };
    if let Some(said) = said.filter(|said| !said.description.is_empty()) {
        schema.insert("description".to_owned(), Value::from(said.description.as_str()));
    }
    schema
}

/// `name(a, b)`: replaces a missing description.
fn plain(name: &str, parameters: &Parameters) -> String {
    let names: Vec<&str> = parameters
        .iter_non_variadic_params()
        .map(|parameter| parameter.parameter.name.as_str())
        .collect();
    format!("{name}({})", names.join(", "))
}

fn docstring_of(function: &StmtFunctionDef) -> Option<String> {
    let first = function.body.first()?.as_expr_stmt()?;
    match &*first.value {
        Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
        _ => None,
    }
}
