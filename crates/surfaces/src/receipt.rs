//! Adds a run's receipt to the answer for the model.

use accounting::{Receipt, ReceiptForm};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use types::Usage;

/// Adds the receipt and the run's resource usage.
pub(crate) fn add(receipt: &Receipt, result: &mut CallToolResult, usage: &Usage, form: ReceiptForm) {
    let json = receipt.json(usage);
    if let Some(Value::Object(structured)) = &mut result.structured_content {
        structured.insert("receipt".to_owned(), json.clone());
    }
    match form {
        ReceiptForm::Lines => result.content.push(ContentBlock::text(receipt.lines(usage))),
        ReceiptForm::Field => {
            let first = result.content.first_mut();
            let parsed = first
                .as_ref()
                .and_then(|first| serde_json::from_str(&first.as_text()?.text).ok());
            if let (Some(first), Some(Value::Object(mut fields))) = (first, parsed) {
                fields.insert("receipt".to_owned(), json);
                *first = ContentBlock::text(Value::Object(fields).to_string());
            }
        }
    }
}

/// The texts of an answer, as a client shows them to its model.
pub(crate) fn texts(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    let texts: Vec<&str> = texts.map(|text| text.text.as_str()).collect();
    texts.join("\n")
}
