//! Resources, prompts and completions of the stub with `--extras`, and tools that message the client unasked.

use serde_json::{Value, json};

use super::protocol::{Answer, Connection, ToolCall, structured, text};

const INVALID_PARAMS: i64 = -32602;

pub(super) fn capabilities() -> Value {
    json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {"listChanged": true},
        "completions": {},
        "logging": {},
    })
}

pub(super) fn answer(method: &str, params: &Value, connection: &Connection) -> Option<Answer> {
    let name = std::env::var("STUB_NAME").unwrap_or_else(|_| "stub".to_owned());
    Some(Answer::Result(match method {
        "resources/list" => json!({
            "resources": [
                {"uri": format!("{name}://note"), "name": "note", "vendor": {"z": 1}},
                {"uri": "shared://same", "name": name},
            ],
            "_meta": {"listed": true},
        }),
        "resources/templates/list" => json!({
            "resourceTemplates": [{"uriTemplate": format!("{name}://page/{{number}}"), "name": "page"}],
        }),
        "resources/read" => {
            let uri = params["uri"].as_str()?;
            if !uri.starts_with(&format!("{name}://")) && uri != "shared://same" {
                return Some(Answer::Refusal(json!({
                    "code": INVALID_PARAMS, "message": "no such resource", "data": {"uri": uri},
                })));
            }
            json!({"contents": [{"uri": uri, "text": format!("{name} has {uri}"), "extra": [1.50]}]})
        }
        "resources/subscribe" => {
            let params = json!({"uri": params["uri"]});
            connection.notify("notifications/resources/updated", params);
            json!({})
        }
        "prompts/list" => json!({
            "prompts": [{"name": "greet", "arguments": [{"name": "who"}], "x-vendor": true}],
        }),
        "prompts/get" => {
            let who = params["arguments"]["who"].as_str().unwrap_or("nobody");
            let content = json!({"type": "text", "text": format!("{name} greets {who}")});
            json!({"messages": [{"role": "user", "content": content}]})
        }
        "completion/complete" => {
            json!({"completion": {"values": [params["ref"].get("name").unwrap_or(&params["ref"]["uri"]), name]}})
        }
        "logging/setLevel" => {
            connection.notify(
                "notifications/message",
                json!({"level": params["level"], "data": name}),
            );
            json!({})
        }
        _ => return None,
    }))
}

/// Tools that message the client during the call.
pub(super) fn call(call: &ToolCall<'_>) -> Option<Answer> {
    Some(match call.name {
        "inquire" => {
            let method = call.arguments["method"].as_str().unwrap_or("elicitation/create");
            let params = question(method);
            match call.params.get("inputResponses") {
                Some(responses) => structured(responses.clone()),
                None if call.is_modern => Answer::Result(json!({
                    "resultType": "input_required",
                    "inputRequests": {"age": {"method": method, "params": params}},
                    "requestState": "opaque",
                })),
                None => structured(call.connection.ask(method, &params)),
            }
        }
        "pester" => {
            let params = question("elicitation/create");
            let times = call.arguments["times"].as_u64()?;
            let answers = (0..times).map(|_| call.connection.ask("elicitation/create", &params));
            structured(json!({"answers": answers.collect::<Vec<_>>()}))
        }
        "withdraw" => {
            let params = question("elicitation/create");
            for _ in 0..call.arguments["times"].as_u64()? {
                call.connection.withdraw("elicitation/create", &params);
            }
            text("withdrawn")
        }
        "say" => {
            let data = call.arguments["text"].clone();
            call.connection
                .notify("notifications/message", json!({"level": "info", "data": data}));
            text("said")
        }
        "change_prompts" => {
            call.connection
                .notify("notifications/prompts/list_changed", json!({}));
            text("changed")
        }
        "meta" => structured(call.params["_meta"].clone()),
        _ => return None,
    })
}

fn question(method: &str) -> Value {
    match method {
        "elicitation/create" => {
            let schema = json!({"type": "object", "properties": {"age": {"type": "integer"}}});
            json!({"message": "How old are you?", "requestedSchema": schema, "vendor": {"z": 1.50}})
        }
        "sampling/createMessage" => {
            let content = json!({"type": "text", "text": "How old is the sun?"});
            json!({"messages": [{"role": "user", "content": content}], "maxTokens": 10})
        }
        _ => json!({}),
    }
}
