//! Programs are ordinary Python.

use test_support::CodeClient;

use crate::acceptance::{check, fails};

#[tokio::test]
async fn c028_top_level_await() {
    check(
        "import asyncio\nawait asyncio.sleep(0.05)\nprint('awaited')",
        "awaited\n",
    )
    .await;
}

#[tokio::test]
async fn c029_ordinary_language_features() {
    let code = "class A:\n    def f(self): return 1\ntry:\n    {}['k']\nexcept KeyError as e:\n    \
                print(repr(e), isinstance(A(), A), list(map(str, range(2))))";
    check(code, "KeyError('k') True ['0', '1']\n").await;
}

#[tokio::test]
async fn c030_comment_only_program() {
    check("# nothing to do", "").await;
}

#[tokio::test]
async fn c031_multi_line_string_is_not_altered() {
    check("s='''a\nb'''\nprint(len(s))", "3\n").await;
}

#[tokio::test]
async fn c032_line_numbers_are_the_users() {
    let ran = fails("x = 1\ny = 0\nprint(x/y)").await;
    for part in ["ZeroDivisionError: division by zero", "line 3"] {
        assert!(ran.error().contains(part), "{part}: {}", ran.error());
    }
    // Only the program itself is named as a file.
    assert_eq!(ran.error().matches("File \"").count(), 1, "{}", ran.error());
    assert!(ran.error().contains("File \"<program>\""), "{}", ran.error());
}

#[tokio::test]
async fn c033_syntax_error() {
    let ran = fails("def f(:\n  pass").await;
    assert!(ran.error().contains("SyntaxError"), "{}", ran.error());
    assert!(ran.error().contains("line 1"), "{}", ran.error());
}

#[tokio::test]
async fn c034_output_before_an_error_is_kept() {
    let ran = fails("print('before')\nraise ValueError('boom')").await;
    assert_eq!(ran.stdout(), "before\n");
    assert!(ran.error().contains("ValueError: boom"), "{}", ran.error());
}

#[tokio::test]
async fn c035_sys_exit() {
    let ran = fails("print('a')\nraise SystemExit(3)").await;
    assert_eq!(ran.stdout(), "a\n");
    assert!(ran.error().contains("exit status 3"), "{}", ran.error());
}

#[tokio::test]
async fn c037_stdout_and_stderr_are_separate() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .run("import sys\nprint('o')\nprint('e', file=sys.stderr)")
        .await;
    assert_eq!((ran.stdout(), ran.stderr()), ("o\n", "e\n"));
    assert_eq!((ran.status(), ran.is_error()), ("completed", false));
}

#[tokio::test]
async fn c038_innocent_code_is_not_refused() {
    let mut client = CodeClient::with_stub().await;
    for (code, stdout) in [
        ("import re; print(re.compile('a+').match('aa').group())", "aa\n"),
        ("class M:\n    def eval(self): return 5\nprint(M().eval())", "5\n"),
        (
            "print(\"never call eval (x) or exec(y)\")",
            "never call eval (x) or exec(y)\n",
        ),
        ("print(getattr({}, 'keys', None) is not None)", "True\n"),
        ("# subprocess. in a comment\nprint(1)", "1\n"),
    ] {
        client.check(code, stdout).await;
    }
}

#[tokio::test]
async fn c039_listed_imports_work() {
    let code = "import asyncio, json, re, math, datetime, time, uuid, collections, itertools, functools, statistics, typing\n\
                print('ok')";
    check(code, "ok\n").await;
}
