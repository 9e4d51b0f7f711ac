//! The text of a tool's answer that a client shows its model.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct ResultTexts<'a> {
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
    #[serde(borrow, default, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    resource: Option<Resource<'a>>,
}

#[derive(Deserialize)]
struct Resource<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

/// The text of a `CallToolResult` for a model: texts, also of embedded resources, separated by line breaks.
/// Without text, the structured content. Returns any other JSON or text unchanged.
pub fn answer_text(answer: &str) -> String {
    let Ok(result) = serde_json::from_str::<ResultTexts<'_>>(answer) else {
        return answer.to_owned();
    };
    let texts: Vec<Cow<'_, str>> = result.content.into_iter().filter_map(Block::into_text).collect();
    match (texts.is_empty(), result.structured) {
        (true, Some(structured)) => structured.get().to_owned(),
        _ => texts.join("\n"),
    }
}

impl<'a> Block<'a> {
    fn into_text(self) -> Option<Cow<'a, str>> {
        self.text
            .or_else(|| self.resource.and_then(|resource| resource.text))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(answer: Value, text: &str) {
        assert_eq!(answer_text(&answer.to_string()), text, "{answer}");
    }

    #[test]
    fn a_model_reads_the_texts() {
        let (a, b) = (
            json!({"type": "text", "text": "a \"b\""}),
            json!({"type": "text", "text": "c"}),
        );
        check(
            json!({"content": [a, b], "structuredContent": {"x": 1}}),
            "a \"b\"\nc",
        );
        check(json!({"content": [], "structuredContent": {"x": 1}}), "{\"x\":1}");
        check(json!({"structuredContent": [1, 2]}), "[1,2]");
        check(
            json!({"content": [{"type": "image", "data": "iVBO", "mimeType": "image/png"}]}),
            "",
        );
        let file = json!({"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}});
        check(json!({"content": [file]}), "inside");
        check(json!({}), "");
    }

    #[test]
    fn other_texts_stay_unchanged() {
        assert_eq!(answer_text("no JSON"), "no JSON");
        assert_eq!(answer_text("{\"content\": 5}"), "{\"content\": 5}");
    }
}
