//! Hostile tool files: they affect the run that calls them, and nothing else.

use serde_json::json;

use super::client;

#[tokio::test]
async fn code_at_import_runs_in_the_calling_run() {
    let (_, mut client) = client(&[
        (
            "bad/leave.py",
            "import sys\nsys.exit(3)\n\ndef leave():\n    'Leaves'\n",
        ),
        (
            "bad/raise_.py",
            "raise RuntimeError('at import')\n\ndef raise_():\n    'Raises'\n",
        ),
        (
            "bad/swap.py",
            "import sys\nsys.modules = {}\n\ndef swap():\n    'Swaps'\n    return 1\n",
        ),
        (
            "bad/gone.py",
            "def gone():\n    'Gone'\n    return 1\n\ndel gone\n",
        ),
        (
            "bad/loud.py",
            "def loud():\n    'Loud'\n    print('x' * 3_000_000)\n",
        ),
    ])
    .await;
    let told = |tool: &str| {
        format!("try:\n    await tools.bad.{tool}()\nexcept ToolError as error:\n    print(error)")
    };
    client.check(&told("leave"), "bad.leave: sys.exit(3)\n").await;
    client
        .check(&told("raise_"), "bad.raise_: RuntimeError: at import\n")
        .await;
    client.check(&told("gone"), "bad.gone: KeyError: 'gone'\n").await;
    let loud = client.run("await tools.bad.loud()").await;
    assert!(loud.stdout().contains("left out") || loud.stdout().len() < 3_000_000);
    client.run("await tools.bad.swap()").await;
    let other = client
        .run_in("new", "print(await tools.calculator.add(a=1, b=2))")
        .await;
    assert_eq!(other.stdout(), "3\n", "{other:?}");
}

#[tokio::test]
async fn the_limits_of_the_run_end_an_endless_file() {
    let (_, mut client) = client(&[
        ("bad/import_.py", "while True:\n    pass\n\ndef import_():\n    'Loops'\n"),
        ("bad/call.py", "import time\n\ndef call():\n    'Sleeps'\n    time.sleep(1000)\n"),
        ("bad/deaf.py", "def deaf():\n    'Deaf'\n    while True:\n        try:\n            while True:\n                pass\n        except BaseException:\n            pass\n"),
    ])
    .await;
    for tool in ["import_", "call", "deaf"] {
        let code = format!("from servers.bad import {tool}\n{tool}()");
        let ran = client.execute(json!({"code": code, "timeout_ms": 400})).await;
        assert_eq!(ran.status(), "timed_out", "{tool}: {ran:?}");
    }
    client
        .check("print(await tools.calculator.add(a=1, b=2))", "3\n")
        .await;
}
