//! `codeyard call`: calls one tool on the path of a program's call.

mod input;

use environment::Machine;
use serde_json::{Map, Value};
use server::{CallError, Caller, Host};
use tokio_util::sync::CancellationToken;
use types::Fault;

use crate::cli::CallArguments;
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use input::CallInput;

pub async fn run(context: &Context, arguments: &CallArguments) -> anyhow::Result<Exit> {
    let input = CallInput::read(arguments)?;
    let loaded = context.load_and_tell()?;
    let parts = loaded.into_parts(context.program()?, &Machine);
    let interrupt = Interrupt::watch()?;
    let server = Host::new(parts)
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    context.open_logs(&server.host()).await;
    let answer = call(&server, &arguments.tool, input, interrupt.token.clone()).await;
    server.host().close().await;
    if interrupt.token.is_cancelled() {
        return Ok(interrupt.exit(Exit::Done));
    }
    let answer = answer?;
    let has_failed = answer["isError"] == true;
    if arguments.prints_all() {
        context.output.json(&answer)?;
    } else if has_failed {
        context.output.tell(&format!("error: {}", text(&answer)?));
    } else {
        context.output.foreign(&format!("{}\n", text(&answer)?))?;
    }
    Ok(if has_failed {
        Exit::ProgramFailed
    } else {
        Exit::Done
    })
}

/// Reads values by the tool's schema. The call itself checks the values, as for a program.
async fn call(
    server: &Caller,
    tool: &str,
    input: CallInput,
    cancel: CancellationToken,
) -> anyhow::Result<Value> {
    let shown = async {
        server.look().await;
        server.show(tool).await
    };
    let arguments = match cancel.run_until_cancelled(shown).await {
        Some(Ok(shown)) => input.by_schema(tool, &shown.input_schema)?,
        // Calls anyway: the call gives the reason and leaves its record.
        Some(Err(_)) | None => Map::new(),
    };
    Ok(server.call(tool, arguments, cancel).await.map_err(failure)?)
}

/// The exit code depends on whose fault the failure is.
pub fn failure(error: CallError) -> Failure {
    let exit = match error.fault() {
        Fault::Caller => Exit::Usage,
        Fault::Upstream => Exit::Upstream,
    };
    Failure::new(exit, error)
}

/// The structured content, unless it only wraps the text; else the texts; else the whole answer.
fn text(answer: &Value) -> anyhow::Result<String> {
    let texts = texts(answer);
    if let Some(structured) = answer.get("structuredContent") {
        return Ok(match texts {
            Some(text) if wraps(structured, &text) => text,
            _ => serde_json::to_string_pretty(structured)?,
        });
    }
    match texts {
        Some(text) => Ok(text),
        None => Ok(serde_json::to_string_pretty(answer)?),
    }
}

/// Whether the value is an object whose only member is this text.
fn wraps(structured: &Value, text: &str) -> bool {
    let members = structured.as_object().filter(|members| members.len() == 1);
    members.is_some_and(|members| members.values().any(|value| value == text))
}

/// The texts of an answer; `None` if the answer holds anything else.
fn texts(answer: &Value) -> Option<String> {
    let blocks = answer["content"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let texts: Option<Vec<&str>> = blocks.iter().map(|block| block["text"].as_str()).collect();
    texts
        .filter(|texts| !texts.is_empty())
        .map(|texts| texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_see_the_content() {
        assert_eq!(
            text(&json!({"structuredContent": [1], "content": []})).unwrap(),
            "[\n  1\n]"
        );
        let blocks = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
        assert_eq!(text(&blocks).unwrap(), "a\nb");
        let wrapped =
            json!({"structuredContent": {"content": "a\nb"}, "content": [{"type": "text", "text": "a\nb"}]});
        assert_eq!(text(&wrapped).unwrap(), "a\nb");
        assert!(
            text(&json!({"content": [{"type": "image", "data": "x"}]}))
                .unwrap()
                .contains("image")
        );
    }
}
