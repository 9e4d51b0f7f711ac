//! Reads the arguments of `mcp`.

use serde_json::{Map, Value};

use crate::calls::is_name;

/// One command of `mcp` with its arguments.
#[derive(Debug, PartialEq)]
pub enum McpCommand {
    /// Shows the usage.
    Help,
    /// Shows how to write shell programs.
    Manual,
    /// Calls a tool.
    Call(CallArguments),
    /// Finds tools.
    Search {
        /// A description of the wanted tools.
        words: String,
        /// Maximum number of tools.
        limit: Option<u64>,
    },
    /// Shows a tool.
    Show {
        /// `server.tool`.
        name: String,
    },
}

/// The printed part of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResultForm {
    /// Structured content, or text.
    #[default]
    Value,
    /// The whole MCP result as JSON.
    Whole,
}

/// A tool with its arguments.
#[derive(Debug, Default, PartialEq)]
pub struct CallArguments {
    /// `server.tool`.
    pub name: String,
    /// JSON values, and words.
    pub arguments: Map<String, Value>,
    /// Names of the arguments given as words; the tool's schema decides their types.
    pub words: Vec<String>,
    /// Whether standard input holds more arguments.
    pub reads_input: bool,
    /// The printed part of the result.
    pub form: ResultForm,
}

/// Reads the arguments after the program's name.
///
/// # Errors
/// The first mistake.
pub fn parse(arguments: &[String]) -> Result<McpCommand, String> {
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => return Ok(McpCommand::Help),
    };
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        return Ok(McpCommand::Help);
    }
    match command {
        "--help" | "-h" | "help" => Ok(McpCommand::Help),
        "manual" => Ok(McpCommand::Manual),
        "call" => call(rest).map(McpCommand::Call),
        "search" => search(rest),
        "show" => match rest {
            [name] => Ok(McpCommand::Show { name: name.clone() }),
            _ => Err("`mcp show` takes one name, as in `mcp show server.tool`".to_owned()),
        },
        other => Err(format!(
            "`mcp {other}` does not exist; there is `mcp call`, `mcp search`, `mcp show`, `mcp manual`"
        )),
    }
}

fn call(words: &[String]) -> Result<CallArguments, String> {
    let mut call = CallArguments::default();
    let mut words = words.iter();
    let mut next = words.next();
    while next.is_some_and(|word| word == "--raw") {
        call.form = ResultForm::Whole;
        next = words.next();
    }
    let name = next.ok_or("`mcp call` needs a tool, as in `mcp call server.tool key=value`")?;
    call.name.clone_from(name);
    for word in words {
        if word == "-" {
            call.reads_input = true;
        } else if word.trim_start().starts_with('{') {
            let object: Map<String, Value> = serde_json::from_str(word)
                .map_err(|error| format!("{name}: expected a JSON object, got `{}`: {error}", shown(word)))?;
            call.arguments.extend(object);
        } else if let Some((key, value)) = word.split_once('=').filter(|(key, _)| is_name(key)) {
            call.arguments.insert(key.to_owned(), value.into());
            call.words.push(key.to_owned());
        } else {
            let word = shown(word);
            return Err(format!(
                "{name}: expected key=value, a JSON object or `-`, got `{word}`"
            ));
        }
    }
    Ok(call)
}

fn search(words: &[String]) -> Result<McpCommand, String> {
    let mut limit = None;
    let mut query = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--limit" {
            let given = words.next().and_then(|number| number.parse().ok());
            limit = Some(given.ok_or("`--limit` takes a number")?);
        } else {
            query.push(word.as_str());
        }
    }
    if query.is_empty() {
        return Err("`mcp search` needs words, as in `mcp search create issue`".to_owned());
    }
    Ok(McpCommand::Search {
        words: query.join(" "),
        limit,
    })
}

/// A word for a message, shortened.
fn shown(word: &str) -> String {
    const MOST: usize = 80;
    match word.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &[&str], expected: &str) {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        let shown = match parse(&words) {
            Ok(McpCommand::Help) => "help".to_owned(),
            Ok(McpCommand::Manual) => "manual".to_owned(),
            Ok(McpCommand::Search { words, limit }) => format!("search {words:?} {limit:?}"),
            Ok(McpCommand::Show { name }) => format!("show {name}"),
            Ok(McpCommand::Call(call)) => format!(
                "{}{} {} {:?}{}",
                if call.form == ResultForm::Whole {
                    "raw "
                } else {
                    ""
                },
                call.name,
                Value::from(call.arguments),
                call.words,
                if call.reads_input { " -" } else { "" }
            ),
            Err(problem) => problem,
        };
        assert_eq!(shown, expected, "{line:?}");
    }

    #[test]
    fn arguments() {
        check(&[], "help");
        check(&["call", "a.b", "--help"], "help");
        check(&["call", "a.b"], r#"a.b {} []"#);
        check(
            &["call", "--raw", "a.b", "x=1=2", "y="],
            r#"raw a.b {"x":"1=2","y":""} ["x", "y"]"#,
        );
        check(
            &["call", "a.b", r#"{"x": [1]}"#, "y=2"],
            r#"a.b {"x":[1],"y":"2"} ["y"]"#,
        );
        check(&["call", "a.b", "-"], r#"a.b {} [] -"#);
        check(&["search", "a", "b", "--limit", "3"], r#"search "a b" Some(3)"#);
        check(&["show", "a.b"], "show a.b");
        check(&["manual"], "manual");
        check(
            &["call"],
            "`mcp call` needs a tool, as in `mcp call server.tool key=value`",
        );
        check(
            &["call", "a.b", "c"],
            "a.b: expected key=value, a JSON object or `-`, got `c`",
        );
        check(
            &["call", "a.b", "{x:1}"],
            "a.b: expected a JSON object, got `{x:1}`: key must be a string at line 1 column 2",
        );
        check(
            &["search"],
            "`mcp search` needs words, as in `mcp search create issue`",
        );
        check(
            &["get"],
            "`mcp get` does not exist; there is `mcp call`, `mcp search`, `mcp show`, `mcp manual`",
        );
    }
}
