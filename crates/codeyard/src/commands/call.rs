//! `codeyard call`: calls one tool by the same path as a program's call.

use std::path::Path;

use config::Machine;
use serde_json::{Map, Value};
use server::{CallFailed, Fault, Server};

use crate::cli::CallArguments;
use crate::context::{Context, read_input};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;

/// Calls it.
pub async fn run(context: &Context, arguments: &CallArguments) -> anyhow::Result<Exit> {
    let loaded = context.load()?;
    let given = parse(&arguments.arguments)?;
    let parts = loaded.into_parts(context.program()?, &Machine);
    let interrupt = Interrupt::watch()?;
    let server = Server::new(parts).map_err(|error| Failure::new(Exit::Usage, error))?;
    let answer = tokio::select! {
        answer = async { server.look().await; server.call(&arguments.tool, given).await } => Some(answer),
        () = interrupt.token.cancelled() => None,
    };
    server.close().await;
    let Some(answer) = answer else {
        return Ok(interrupt.exit(Exit::Done));
    };
    let answer = answer.map_err(failure)?;
    if arguments.json {
        context.output.json(&answer)?;
    } else {
        context.output.foreign(&format!("{}\n", text(&answer)?))?;
    }
    Ok(if answer["isError"] == true {
        Exit::ProgramFailed
    } else {
        Exit::Done
    })
}

/// Why a call came to no answer, and whose business that is.
pub fn failure(error: CallFailed) -> Failure {
    let exit = match error.fault {
        Fault::Caller => Exit::Usage,
        Fault::Upstream => Exit::Upstream,
    };
    Failure::new(exit, error)
}

fn parse(text: &str) -> anyhow::Result<Map<String, Value>> {
    let text = match text {
        "-" => read_input(Path::new("-"))?,
        text => text.to_owned(),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(Failure::new(
            Exit::Usage,
            "the arguments must be a JSON object, such as '{\"name\": \"ana\"}'",
        )
        .into()),
        Err(error) => Err(Failure::new(Exit::Usage, format!("the arguments are no JSON: {error}")).into()),
    }
}

/// What a person wants to see: the structured content, else the texts, else everything.
fn text(answer: &Value) -> anyhow::Result<String> {
    if let Some(structured) = answer.get("structuredContent") {
        return Ok(serde_json::to_string_pretty(structured)?);
    }
    let blocks = answer["content"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let texts: Option<Vec<&str>> = blocks.iter().map(|block| block["text"].as_str()).collect();
    match texts {
        Some(texts) if !texts.is_empty() => Ok(texts.join("\n")),
        _ => Ok(serde_json::to_string_pretty(answer)?),
    }
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
        assert!(
            text(&json!({"content": [{"type": "image", "data": "x"}]}))
                .unwrap()
                .contains("image")
        );
    }

    #[test]
    fn arguments_are_an_object() {
        assert_eq!(parse("{\"a\": 1}").unwrap()["a"], 1);
        assert!(
            parse("[1]")
                .unwrap_err()
                .to_string()
                .contains("must be a JSON object")
        );
        assert!(parse("{a}").unwrap_err().to_string().contains("are no JSON"));
    }
}
