//! Programs are ordinary Python.

use test_support::CodeClient;

#[tokio::test]
async fn c028_c029_c030_c031_c038_c039_ordinary_programs() {
    let mut client = CodeClient::with_stub().await;
    client
        .check(
            "import asyncio\nawait asyncio.sleep(0.05)\nprint('awaited')",
            "awaited\n",
        )
        .await;
    let features = "class A:\n    def f(self): return 1\ntry:\n    {}['k']\nexcept KeyError as e:\n    \
                    print(repr(e), isinstance(A(), A), list(map(str, range(2))))";
    client.check(features, "KeyError('k') True ['0', '1']\n").await;
    client.check("# nothing to do", "").await;
    client.check("s='''a\nb'''\nprint(len(s))", "3\n").await;
    client
        .check("import re; print(re.compile('a+').match('aa').group())", "aa\n")
        .await;
    client
        .check("class M:\n    def eval(self): return 5\nprint(M().eval())", "5\n")
        .await;
    client
        .check(
            "print(\"never call eval (x) or exec(y)\")",
            "never call eval (x) or exec(y)\n",
        )
        .await;
    client
        .check("print(getattr({}, 'keys', None) is not None)", "True\n")
        .await;
    client.check("# subprocess. in a comment\nprint(1)", "1\n").await;
    let imports = "import asyncio, json, re, math, datetime, time, uuid, collections, itertools, functools, \
                   statistics, typing\nprint('ok')";
    client.check(imports, "ok\n").await;
}

#[tokio::test]
async fn results_are_the_return_the_last_expression_or_the_variable() {
    let mut client = CodeClient::with_stub().await;
    for (code, result) in [
        ("return {'a': [1, None]}", serde_json::json!({"a": [1, null]})),
        ("x = 20\nx + 1", serde_json::json!(21)),
        ("result = 'named'\nfor _ in []: pass", serde_json::json!("named")),
    ] {
        assert_eq!(*client.run(code).await.result(), result, "{code}");
    }
    let ran = client.run("print('only printed')").await;
    assert_eq!(ran.0["structuredContent"].get("result"), None);
}

#[tokio::test]
async fn variables_stay_in_their_session() {
    let mut client = CodeClient::with_stub().await;
    client
        .check(
            "import math\ndef area(r): return round(math.pi * r * r, 2)\nseen = [1]",
            "",
        )
        .await;
    client
        .check("seen.append(area(2))\nprint(seen)", "[1, 12.57]\n")
        .await;
    let other = client
        .execute(serde_json::json!({"code": "seen", "session": "other"}))
        .await;
    assert!(other.error().contains("NameError"), "{other:?}");
    let fresh = client
        .execute(serde_json::json!({"code": "seen = 2", "session": "new"}))
        .await;
    let name = fresh.0["structuredContent"]["session"].clone();
    assert_ne!(name, "default");
    let again = client
        .execute(serde_json::json!({"code": "seen", "session": name}))
        .await;
    assert_eq!(*again.result(), 2);
}

#[tokio::test]
async fn c032_c033_c034_c035_failures_are_the_users_own() {
    let mut client = CodeClient::with_stub().await;
    let ran = client.run("x = 1\ny = 0\nprint(x/y)").await;
    assert!(
        ran.is_error() && ran.error().contains("ZeroDivisionError: division by zero"),
        "{ran:?}"
    );
    assert!(ran.error().contains("line 3"), "{ran:?}");
    assert!(
        !ran.error().contains("/opt/") && !ran.error().contains("/usr/"),
        "no path of ours: {ran:?}"
    );
    let ran = client.run("def f(:\n  pass").await;
    assert_eq!((ran.status(), ran.is_error()), ("failed", true));
    assert!(ran.error().contains("SyntaxError"), "{ran:?}");
    let ran = client.run("print('before')\nraise ValueError('boom')").await;
    assert_eq!((ran.stdout(), ran.is_error()), ("before\n", true));
    assert!(ran.error().contains("ValueError: boom"), "{ran:?}");
    let ran = client.run("print('a')\nraise SystemExit(3)").await;
    assert_eq!((ran.stdout(), ran.status()), ("a\n", "failed"));
    assert!(
        ran.error().contains('3') && ran.error().to_lowercase().contains("exit"),
        "{ran:?}"
    );
    client.check("print('healthy')", "healthy\n").await;
}

#[tokio::test]
async fn a_call_that_is_not_awaited_fails_the_run() {
    let mut client = CodeClient::with_stub().await;
    let ran = client.run("tools.stub.add(a=1, b=2)\nprint('done')").await;
    assert_eq!((ran.status(), ran.stdout()), ("failed", "done\n"), "{ran:?}");
    assert!(ran.error().contains("await"), "{ran:?}");
}
