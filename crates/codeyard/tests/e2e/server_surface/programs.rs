//! Results, errors, limits and values of `shell_exec`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{Codeyard, MetaTools as _, MetaToolsClient};

/// The metrics of a run, in order.
pub const METRICS: [&str; 11] = [
    "run_id",
    "code_hash",
    "wall_time_ms",
    "cpu_time_ms",
    "tool_call_count",
    "tool_latency_p50_ms",
    "tool_latency_p95_ms",
    "tool_latency_p99_ms",
    "error_rate",
    "bytes_written",
    "bytes_error",
];

/// Programs that fail (C032 to C035, C037), each with its output and a part of its error.
pub const FAILING: [(&str, &str, &str); 6] = [
    ("x = 1\ny = 0\nprint(x/y)", "", "line 3"),
    (
        "x = 1\ny = 0\nprint(x/y)",
        "",
        "ZeroDivisionError: division by zero",
    ),
    ("def f(:\n  pass", "", "SyntaxError"),
    (
        "print('before')\nraise ValueError('boom')",
        "before\n",
        "ValueError: boom",
    ),
    (
        "print('a')\nraise SystemExit(3)",
        "a\n",
        "Execution exited with status 3",
    ),
    (
        "import sys\nprint('o')\nprint('e', file=sys.stderr)",
        "o\n",
        "e\n",
    ),
];

#[tokio::test]
async fn c015_four_tools_are_listed() {
    let mut client = MetaToolsClient::with_stub().await;
    let tools = client.mcp.tools().await.unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["shell_exec", "fs_browse", "fs_read", "fs_write"]);
    let unknown = json!({"name": "add", "arguments": {}});
    let answer = client.mcp.request("tools/call", unknown).await.unwrap();
    assert_eq!(answer["error"]["message"], "Unknown tool: add", "{answer}");
}

#[tokio::test]
async fn c017_c018_a_result_has_the_original_s_fields() {
    let mut client = MetaToolsClient::with_stub().await;
    let result = client.run("print(\"hello from sandbox\")").await;
    let fields = result.fields();
    let names: Vec<&String> = fields.as_object().unwrap().keys().collect();
    assert_eq!(names, ["output", "error", "metrics", "tool_calls_made", "run_id"]);
    assert_eq!(
        (result.output(), &fields["error"]),
        ("hello from sandbox\n", &Value::Null)
    );
    assert_eq!(
        (result.is_error(), &fields["tool_calls_made"]),
        (false, &json!([]))
    );
    let metrics: Vec<&String> = fields["metrics"].as_object().unwrap().keys().collect();
    assert_eq!(metrics, METRICS);
    assert_eq!(fields["metrics"]["run_id"], fields["run_id"]);
    assert_eq!(fields["metrics"]["bytes_written"], 19);
    let content = result.0["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{content:?}");
    let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, fields);
}

#[tokio::test]
async fn programs_print_and_return() {
    let mut client = MetaToolsClient::with_stub().await;
    for (code, output) in [
        // S0-30: a returned value is one line of JSON; a last expression does not count.
        (
            "return {'a': 1, 'é': [None, True]}",
            "{\"a\": 1, \"é\": [null, true]}\n",
        ),
        ("print('x', end='')\nreturn 5", "x5\n"),
        (
            "import datetime\nreturn datetime.date(2026, 1, 2)",
            "\"2026-01-02\"\n",
        ),
        ("return None", ""),
        ("5", ""),
        ("result = 5", ""),
        // C028 to C031
        (
            "import asyncio\nawait asyncio.sleep(0.05)\nprint('awaited')",
            "awaited\n",
        ),
        (
            "class A:\n    def f(self): return 1\ntry:\n    {}['k']\nexcept KeyError as e:\n    \
             print(repr(e), isinstance(A(), A), list(map(str, range(2))))",
            "KeyError('k') True ['0', '1']\n",
        ),
        ("# nothing to do", ""),
        ("s='''a\nb'''\nprint(len(s))", "3\n"),
        // C038, C039
        ("import re; print(re.compile('a+').match('aa').group())", "aa\n"),
        ("class M:\n    def eval(self): return 5\nprint(M().eval())", "5\n"),
        (
            "print(\"never call eval (x) or exec(y)\")",
            "never call eval (x) or exec(y)\n",
        ),
        ("print(getattr({}, 'keys', None) is not None)", "True\n"),
        (
            "import asyncio, json, re, math, datetime, time, uuid, collections, itertools, functools, statistics, typing\n\
             print('ok')",
            "ok\n",
        ),
        // S0-33
        (
            "write_file('a/b.txt', 'é')\nprint(read_file('/scratch/a/b.txt'), list_dir(), list_dir('a'), json.dumps([1]))",
            "é ['a'] ['b.txt'] [1]\n",
        ),
        // S0-D09: one line that resembles a command.
        ("cat = 5", ""),
        ("ls = []; print(ls)", "[]\n"),
    ] {
        client.check(code, output).await;
    }
}

#[tokio::test]
async fn programs_fail_with_the_original_s_words() {
    let mut client = MetaToolsClient::with_stub().await;
    let further = [
        ("raise SystemExit('why')", "", "why\n"),
        ("import os; os._exit(7)", "", ""),
        ("tools.stub.add({'a': 1, 'b': 1})", "", "never awaited"),
    ];
    for (code, output, error) in FAILING.into_iter().chain(further) {
        let result = client.check_error(code, error).await;
        assert_eq!(result.output(), output, "{code}\n{result:?}");
        let has_places = ["/work", "/rw/", "/at/"]
            .iter()
            .any(|place| result.error().contains(place));
        assert!(!has_places, "{result:?}");
    }
    client.check_healthy().await;
}

#[tokio::test]
async fn arguments_are_checked() {
    let mut client = MetaToolsClient::with_stub().await;
    for (arguments, error) in [
        (json!({}), "code is required"),
        (json!({"code": " \n"}), "code is required"),
        (
            json!({"code": "1", "language": "ruby"}),
            "Unsupported language: ruby",
        ),
        (
            json!({"code": "1", "timeout_ms": "soon"}),
            "timeout_ms must be an integer",
        ),
    ] {
        let result = client.call("shell_exec", arguments).await;
        let envelope = json!({"output": "", "error": error, "metrics": {}, "tool_calls_made": []});
        assert_eq!((result.fields(), result.is_error()), (&envelope, true));
    }
    let stream = json!({"code": "print(1)", "stream": true, "timeout_ms": 1});
    assert_eq!(client.call("shell_exec", stream).await.output(), "1\n");
}

#[tokio::test]
async fn c088_c089_a_time_out_keeps_output_and_files() {
    let mut client = MetaToolsClient::with_stub().await;
    let code = "write_file('kept', 'x')\nprint('partial', flush=True)\nimport time\ntime.sleep(30)";
    let began = Instant::now();
    let result = client
        .call("shell_exec", json!({"code": code, "timeout_ms": 1500}))
        .await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(
        (result.output(), result.error()),
        ("partial\n", "Execution timed out after 1500ms")
    );
    // Neither the interrupt nor an exception stops this program.
    let endless = json!({"code": "sum(range(10**12))", "timeout_ms": 500});
    let result = client.call("shell_exec", endless).await;
    assert_eq!(result.error(), "Execution timed out after 500ms");
    let notice = result.0["content"][1]["text"].as_str().unwrap();
    assert!(notice.contains("/scratch and /results stay"), "{result:?}");
    client.check("print(read_file('kept'))", "x\n").await;
}

#[tokio::test]
async fn large_and_binary_output_is_cut_and_never_an_error() {
    let mut client = MetaToolsClient::with_stub().await;
    let result = client.run("print('x'*1048576)").await;
    assert!(
        result
            .output()
            .contains("bytes cut here; all of it: /results/stdout-"),
        "{result:?}"
    );
    assert!(!result.is_error(), "{result:?}");
    let result = client
        .run("import sys\nsys.stderr.write('e'*300000)\nprint('done')")
        .await;
    assert_eq!(result.output(), "done\n");
    let result = client
        .run("import sys\nsys.stdout.buffer.write(bytes(range(256))*10)")
        .await;
    assert!(!result.is_error() && result.output().len() < 20_000, "{result:?}");
}

#[tokio::test]
async fn c126_concurrent_runs_have_their_own_output() {
    let mut client = MetaToolsClient::with_stub().await;
    let mut started = Vec::new();
    for number in 0..10 {
        let code = format!("import time; time.sleep(0.05); print({number})");
        started.push(client.start(json!({ "code": code })).await);
    }
    for (number, id) in started.iter().enumerate() {
        assert_eq!(client.answered(id).await.output(), format!("{number}\n"));
    }
}

#[tokio::test]
async fn s0_46_files_over_the_limit_block_a_run() {
    let codeyard = Codeyard::with_stub().unwrap().limit("disk=2MiB");
    let mut client = MetaToolsClient::of(codeyard).await;
    let code = "for n in range(3):\n    write_file(f'{n}', 'x' * 1_000_000)\nprint('written')";
    let result = client
        .check_error(code, "EACCES: total disk usage limit exceeded")
        .await;
    assert_eq!(result.output(), "written\n");
    client
        .check("import os\nos.remove('/scratch/0')\nos.remove('/scratch/1')", "")
        .await;
    let small = Codeyard::with_stub().unwrap().limit("file_size=1MiB");
    let mut client = MetaToolsClient::of(small).await;
    client
        .check_error("write_file('big', 'x' * 1_100_000)", "File too large")
        .await;
}
