//! Results: text, structured content, statuses and exit codes, in each form.

use serde_json::{Value, json};
use test_support::BridgeClient;

use crate::bridge::{check, with_variables, within};

/// Runs a program that must succeed with this text and exactly this structured content.
async fn gives(code: &str, text: &str, fields: Value) {
    let mut client = BridgeClient::with_stub().await;
    let answer = client.run(code).await;
    assert_eq!(
        (answer.text(), answer.fields(), answer.is_error()),
        (text, &fields, false),
        "{code}"
    );
}

#[tokio::test]
async fn c287_compact_success() {
    gives(
        "print('alpha');print('beta')",
        "alpha\nbeta",
        json!({"stdout": ["alpha", "beta"]}),
    )
    .await;
}

#[tokio::test]
async fn c288_no_output() {
    let nothing = json!({"summary": "Success (no output)"});
    gives("x=1", "Success (no output)", nothing.clone()).await;
    // Only printed output counts.
    gives("1 + 1", "Success (no output)", nothing).await;
}

#[tokio::test]
async fn c290_lines_are_intact() {
    let lines = json!({"stdout": ["a", "", "()", "  b  "]});
    gives(
        "print('a')\nprint()\nprint(())\nprint('  b  ')",
        "a\n\n()\n  b  ",
        lines,
    )
    .await;
    gives(
        "print('a\\r')\nprint('', end='')\nprint('b', end='')",
        "a\r\nb",
        json!({"stdout": ["a\r", "b"]}),
    )
    .await;
}

#[tokio::test]
async fn both_streams() {
    let code = "import sys\nprint('out')\nprint('err', file=sys.stderr)";
    gives(
        code,
        "out\nstderr:\nerr",
        json!({"stdout": ["out"], "stderr": ["err"]}),
    )
    .await;
}

#[tokio::test]
async fn c293_validation() {
    let mut client = BridgeClient::with_stub().await;
    for (arguments, said) in [
        (json!({}), "Missing 'code' argument"),
        (json!({"code": ""}), "Missing 'code' argument"),
        (json!({"code": 5}), "Missing 'code' argument"),
        (
            json!({"code": "open('/tmp/ran', 'w')", "servers": "stub"}),
            "'servers' must be a list",
        ),
        (
            json!({"code": "open('/tmp/ran', 'w')", "timeout": "5"}),
            "'timeout' must be an integer",
        ),
        (
            json!({"code": "open('/tmp/ran', 'w')", "timeout": true}),
            "'timeout' must be an integer",
        ),
        (
            json!({"code": "open('/tmp/ran', 'w')", "timeout": 2.5}),
            "'timeout' must be an integer",
        ),
    ] {
        let answer = client.call(arguments.clone()).await;
        assert_eq!(
            (answer.status(), answer.is_error()),
            ("validation_error", true),
            "{arguments}: {answer:?}"
        );
        assert!(answer.text().contains(said), "{arguments}: {answer:?}");
    }
    client
        .check("import os\nprint(os.path.exists('/tmp/ran'))", "False")
        .await;
}

#[tokio::test]
async fn c294_timeouts_are_clamped() {
    let mut client = with_variables(&[("MCP_BRIDGE_TIMEOUT", "1"), ("MCP_BRIDGE_MAX_TIMEOUT", "2")]).await;
    for timeout in [0, -5, 100_000] {
        let answer = client.call(json!({"code": "print(1)", "timeout": timeout})).await;
        assert_eq!(answer.text(), "1", "{answer:?}");
    }
    let endless = "import time\nwhile True: time.sleep(0.1)";
    let answer = within(20.0, client.call(json!({"code": endless, "timeout": 100_000}))).await;
    assert_eq!(
        (answer.status(), &answer.fields()["timeoutSeconds"]),
        ("timeout", &json!(2)),
        "{answer:?}"
    );
}

#[tokio::test]
async fn c300_top_level_await() {
    let code = "import asyncio\nr=await asyncio.gather(*[asyncio.sleep(0.01,i) for i in range(3)])\nprint(r)";
    check(code, "[0, 1, 2]").await;
}

#[tokio::test]
async fn c315_one_line_of_5_mb() {
    let mut client = BridgeClient::with_stub().await;
    let answer = client.run("print('z'*5000000)\nprint('end')").await;
    assert!(
        !answer.is_error() && answer.text().ends_with("end"),
        "{}",
        answer.status()
    );
    assert!(
        answer
            .text()
            .contains("bytes cut here; all of it: /tmp/stdout-1.txt]"),
        "{} bytes",
        answer.text().len()
    );
    client
        .check("print(len(open('/tmp/stdout-1.txt').read()))", "5000005")
        .await;
    client.check("print('next')", "next").await;
}

#[tokio::test]
async fn c316_a_large_tool_result() {
    check(
        "r=await mcp_stub.big(bytes=5000000); print(len(r['content'][0]['text']))",
        "5000000",
    )
    .await;
}

#[tokio::test]
async fn c371_other_output_modes() {
    let code = "print('line1')\nprint('line2')";
    let toon = "```toon\nstatus: success\nsummary: Success\nexitCode: 0\nstdout[2]: line1,line2\n```";
    let json = "```json\n{\n  \"exitCode\": 0,\n  \"status\": \"success\",\n  \"stdout\": [\n    \"line1\",\n    \"line2\"\n  ],\n  \
                \"summary\": \"Success\"\n}\n```";
    let fields =
        json!({"status": "success", "summary": "Success", "exitCode": 0, "stdout": ["line1", "line2"]});
    for (mode, text) in [("toon", toon), ("json", json), ("xyz", toon)] {
        let mut client = with_variables(&[("MCP_BRIDGE_OUTPUT_MODE", mode)]).await;
        let answer = client.run(code).await;
        assert_eq!((answer.text(), answer.fields()), (text, &fields), "{mode}");
        let told = client.mcp.stderr().contains("MCP_BRIDGE_OUTPUT_MODE");
        assert_eq!(told, mode == "xyz", "{mode}: {}", client.mcp.stderr());
    }
}

#[tokio::test]
async fn c378_the_exit_code_is_shown() {
    let mut client = BridgeClient::with_stub().await;
    let answer = client.run("import sys\nprint('a')\nsys.exit(3)").await;
    assert_eq!(answer.text(), "[status: error]\n[exit: 3]\na");
    assert_eq!(
        (&answer.fields()["exitCode"], answer.is_error()),
        (&json!(3), true)
    );
    assert_eq!(answer.fields()["error"], "Sandbox exited with code 3");
    client.check("print(1)", "1").await;
}

#[tokio::test]
async fn exit_codes() {
    let mut client = BridgeClient::with_stub().await;
    for (code, exit, stderr) in [
        ("import sys\nsys.exit()", 0, ""),
        ("exit(7)", 7, ""),
        ("raise SystemExit(300)", 44, ""),
        ("import sys\nsys.exit('no such file')", 1, "no such file"),
        ("1/0", 1, "ZeroDivisionError: division by zero"),
        ("def f(:", 1, "SyntaxError: "),
    ] {
        let answer = client.run(code).await;
        let found = answer.fields()["exitCode"].as_u64().unwrap_or_default();
        assert_eq!(
            (found, answer.is_error()),
            (exit, exit != 0),
            "{code}: {answer:?}"
        );
        assert!(answer.lines("stderr").contains(stderr), "{code}: {answer:?}");
    }
}

#[tokio::test]
async fn figures_are_images() {
    let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let mut client = BridgeClient::with_stub().await;
    let answer = client
        .run(&format!("import base64\nreturn base64.b64decode('{png}')"))
        .await;
    assert_eq!(answer.fields(), &json!({"summary": "Success"}), "{answer:?}");
    assert_eq!(answer.0["content"][1]["type"], "image", "{answer:?}");
}
