//! The output of `mcp`.

use std::fmt::Write as _;
use std::io;

use serde_json::Value;

use super::arguments::ResultForm;
use super::{Problem, write};

/// Prints text unchanged.
pub fn text(text: &str) -> Result<(), Problem> {
    write(io::stdout(), text)
}

/// Prints a problem on standard error.
pub fn problem(text: &str) {
    // The reader may have closed the output.
    let _ = write(io::stderr(), &format!("mcp: {text}\n"));
}

/// Prints the result of a tool: structured content, else text, else the blocks.
pub fn answer(name: &str, answer: &Value, form: ResultForm) -> Result<(), Problem> {
    if answer.is_array() {
        return Err(Problem::Message(format!(
            "{name} is a Python file; call it from a Python program"
        )));
    }
    if form == ResultForm::Whole {
        return text(&format!("{answer}\n"));
    }
    let message = text_of(answer);
    if answer["isError"] == true {
        let message = message.filter(|message| !message.is_empty());
        let message = message.unwrap_or_else(|| "the tool reported an error".to_owned());
        return Err(Problem::Message(format!("{name}: {message}")));
    }
    match (&answer["structuredContent"], message) {
        (Value::Null, Some(message)) => text(&with_newline(message)),
        (Value::Null, None) if !answer["content"].is_null() => text(&format!("{}\n", answer["content"])),
        (Value::Null, None) => text(&format!("{answer}\n")),
        (structured, _) => text(&format!("{structured}\n")),
    }
}

/// The text of a result whose blocks are all text.
fn text_of(answer: &Value) -> Option<String> {
    let blocks = match &answer["content"] {
        Value::String(text) => return Some(text.clone()),
        Value::Array(blocks) if !blocks.is_empty() => blocks,
        _ => return None,
    };
    let text = |block: &Value| match &block["type"] {
        Value::String(kind) if kind == "text" => Some(block["text"].as_str()?.to_owned()),
        _ => None,
    };
    let texts: Option<Vec<String>> = blocks.iter().map(text).collect();
    Some(texts?.join("\n"))
}

fn with_newline(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Prints the found tools.
pub fn found(answer: &Value) -> Result<(), Problem> {
    let mut page = String::new();
    let mut tools = answer["tools"].as_array().map_or(&[][..], Vec::as_slice);
    if tools.is_empty() {
        page.push_str("no tool matches");
        tools = answer["nearest"].as_array().map_or(&[][..], Vec::as_slice);
        page.push_str(if tools.is_empty() {
            "\n"
        } else {
            "; the nearest are\n"
        });
    }
    for tool in tools {
        let _ = writeln!(page, "{}", tool["signature"].as_str().unwrap_or_default());
        if let Some(description) = tool["description"].as_str() {
            let _ = writeln!(page, "    {description}");
        }
    }
    if let Some(more @ 1..) = answer["more"].as_u64() {
        let _ = writeln!(page, "{more} more");
    }
    let pending = answer["pending"].as_array().map_or(&[][..], Vec::as_slice);
    let pending: Vec<&str> = pending.iter().filter_map(Value::as_str).collect();
    if !pending.is_empty() {
        let _ = writeln!(page, "still starting: {}", pending.join(", "));
    }
    text(&page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_only_where_all_blocks_are_text() {
        let check = |content: Value, expected: Option<&str>| {
            let answer = json!({"content": content});
            assert_eq!(text_of(&answer).as_deref(), expected, "{answer}");
        };
        check(
            json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
            Some("a\nb"),
        );
        check(
            json!([{"type": "text", "text": "a"}, {"type": "image", "data": ""}]),
            None,
        );
        check(json!([]), None);
        check(json!("a"), Some("a"));
        check(json!(null), None);
    }
}
