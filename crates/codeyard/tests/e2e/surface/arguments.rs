//! Wrong arguments: a tool error that names the field, the allowed values and the nearest one.

use serde_json::{Value, json};
use test_support::CodeClient;

/// The call is refused with exactly these words, and no program has run.
async fn refused(client: &mut CodeClient, tool: &str, arguments: Value, expected: &str) {
    let result = client.mcp.call_tool(tool, arguments.clone()).await.unwrap();
    let said = result["structuredContent"]["error"].as_str().unwrap_or_default();
    assert_eq!(said, format!("{tool} was not run: {expected}"), "{arguments}");
    assert_eq!(result["isError"], true, "{arguments}");
    assert_eq!(
        result["content"][0]["text"], said,
        "the model must read the same text"
    );
    if tool == "execute_code" {
        assert_eq!(result["structuredContent"]["status"], "refused");
    }
}

#[tokio::test]
async fn programs() {
    let mut client = CodeClient::with_stub().await;
    let whole = "timeout_ms must be a whole number of milliseconds from 1 to 300000, not";
    let name = "session must be 1 to 64 of the characters A-Z a-z 0-9 _ . -, not";
    let cases = [
        (json!({}), "`code` is missing; it must be a string".to_owned()),
        (json!({"code": ""}), "`code` is blank; it must be a string with some text".to_owned()),
        (json!({"code": " \n\t "}), "`code` is blank; it must be a string with some text".to_owned()),
        (json!({"code": ["print(1)"]}), "`code` must be a string, not an array".to_owned()),
        (json!({"code": 5}), "`code` must be a string, not 5".to_owned()),
        (json!({"code": "x=1", "timeout_ms": "x"}), format!("{whole} the text \"x\"; use 60000")),
        (json!({"code": "x=1", "timeout_ms": "500"}), format!("{whole} the text \"500\"; use 500")),
        (json!({"code": "x=1", "timeout_ms": 1.5}), format!("{whole} 1.5; use 2")),
        (json!({"code": "x=1", "timeout_ms": true}), format!("{whole} true; use 60000")),
        (
            json!({"code": "x=1", "language": "ruby"}),
            "`language` must be \"python\", \"typescript\" or \"shell\", not \"ruby\"".to_owned(),
        ),
        (
            json!({"code": "x=1", "session": "my session/1"}),
            format!("{name} 'my session/1'; the nearest is 'my-session-1'"),
        ),
        (json!({"code": "x=1", "session": 7}), "`session` must be a string, not 7".to_owned()),
        (
            json!({"code": "x=1", "timeout": 5, "sesion": "a"}),
            "no argument is named `timeout`; did you mean `timeout_ms`?; no argument is named `sesion`; did you mean `session`?"
                .to_owned(),
        ),
        (
            json!({"code": "", "language": "go", "timeout_ms": 1.5}),
            format!("`code` is blank; it must be a string with some text; `language` must be \"python\", \"typescript\" or \"shell\", not \"go\"; {whole} 1.5; use 2"),
        ),
    ];
    for (arguments, expected) in cases {
        refused(&mut client, "execute_code", arguments, &expected).await;
    }
    // Some clients send `null`, `""` and 0 for an absent argument; the exact bounds are allowed.
    for arguments in [
        json!({"code": "return 'x' in globals()", "session": "", "timeout_ms": "", "language": "Python"}),
        json!({"code": "return 'x' in globals()", "session": null, "timeout_ms": null, "language": null}),
        json!({"code": "import time\ntime.sleep(0.2)\nreturn 'x' in globals()", "timeout_ms": 0}),
        json!({"code": "return 'x' in globals()", "timeout_ms": 300_000, "language": "python"}),
    ] {
        assert_eq!(
            client.execute(arguments).await.result(),
            false,
            "no refused program has run"
        );
    }
}

#[tokio::test]
async fn a_timeout_out_of_range_becomes_the_nearest_bound() {
    let mut client = CodeClient::with_stub().await;
    for (given, used) in [(json!(1), 100), (json!(-1), 100), (json!(1e9), 300_000)] {
        let ran = client
            .execute(json!({"code": "return 1", "timeout_ms": given}))
            .await;
        assert_eq!(ran.result(), 1, "{ran:?}");
        let note = format!("notice: timeout_ms may be 100 to 300000; {used} was used instead of {given}");
        assert!(ran.shown().contains(&note), "{}", ran.shown());
    }
}

#[tokio::test]
async fn searches() {
    let mut client = CodeClient::with_stub().await;
    let whole = "`limit` must be an integer from 1 to 50, not";
    for (arguments, expected) in [
        (json!({"query": 5}), "`query` must be a string, not 5".to_owned()),
        (
            json!({"query": "x", "limit": -1}),
            format!("{whole} -1; the nearest is 1"),
        ),
        (
            json!({"query": "x", "limit": 51}),
            format!("{whole} 51; the nearest is 50"),
        ),
        (
            json!({"query": "x", "limit": "many"}),
            format!("{whole} \"many\""),
        ),
        (
            json!({"query": "x", "detail": "ful"}),
            "`detail` must be \"name\" or \"summary\" or \"full\", not \"ful\"; the nearest is \"full\""
                .to_owned(),
        ),
        (
            json!({"q": "x"}),
            "no argument is named `q`; did you mean `query`?".to_owned(),
        ),
    ] {
        refused(&mut client, "search_tools", arguments, &expected).await;
    }
    let found = client.search(json!({"query": "echo"})).await;
    assert_eq!(found["structuredContent"]["tools"][0]["tool"], "echo", "{found}");
}
