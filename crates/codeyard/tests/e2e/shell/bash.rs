//! Bash's own errors and syntax.

use test_support::CodeClient;

use super::{check, check_fails, run};

#[tokio::test]
async fn errors_name_the_lines_of_the_program() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check_fails(
        client,
        "echo one\nnope",
        127,
        &["program: line 2: nope: command not found"],
    )
    .await;
    check_fails(
        client,
        "f() {\n  nope\n}\n\nf",
        127,
        &["program: line 2: nope: command not found"],
    )
    .await;
    check_fails(client, "x=1; exit 1", 1, &[]).await;
    check_fails(
        client,
        "echo\n\nnope",
        127,
        &["program: line 3: nope: command not found"],
    )
    .await;
    check_fails(
        client,
        "cat missing",
        1,
        &["cat: missing: No such file or directory"],
    )
    .await;
    check_fails(client, "/workspace", 126, &["Is a directory"]).await;
    check_fails(client, "echo $((1 / 0))", 1, &["division by 0"]).await;
}

#[tokio::test]
async fn unclosed_syntax_is_an_error() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    for (code, expected) in [
        ("echo 'one", "unexpected EOF while looking for matching `''"),
        (
            "echo \"one\ntwo",
            "unexpected EOF while looking for matching `\"'",
        ),
        ("if true; then\n  echo", "syntax error: unexpected end of file"),
        ("f() {", "syntax error: unexpected end of file"),
        ("echo )", "syntax error near unexpected token `)'"),
        ("echo $(", "unexpected EOF"),
        ("for", "syntax error"),
    ] {
        let ran = run(client, code).await;
        assert_eq!(ran.status(), "failed", "{code}\n{ran:?}");
        let stderr = ran.fields()["stderr"].as_str().unwrap_or_default();
        assert!(stderr.contains(expected), "{code}\n{stderr}");
        check(client, "echo next", "next\n").await;
    }
    check(client, "cat <<EOF\none $((1 + 1))\nEOF", "one 2\n").await;
    check(
        client,
        "cat <<'EOF'\none $x\nEOF\ncat <<-EOF\n\ttwo\n\tEOF",
        "one $x\ntwo\n",
    )
    .await;
    let ran = run(client, "cat <<EOF\nno end").await;
    assert_eq!((ran.status(), ran.stdout()), ("completed", "no end\n"), "{ran:?}");
}

#[tokio::test]
async fn forms_of_bash() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "printf '%s\\n' b a | sort | head -1", "a\n").await;
    check(client, "diff <(echo a) <(echo a) && echo same", "same\n").await;
    check(
        client,
        "read -r x <<< 'from a string'; echo $x",
        "from a string\n",
    )
    .await;
    check(client, "cat; read -r line || echo empty", "empty\n").await;
    check(
        client,
        "coproc cat; echo hi >&${COPROC[1]}; read -r y <&${COPROC[0]}; echo $y",
        "hi\n",
    )
    .await;
    check(
        client,
        "set -m; sleep 0.01 & fg %1 >/dev/null; jobs; set +m; echo done",
        "done\n",
    )
    .await;
    check(
        client,
        "mkfifo p 2>/dev/null || echo not in the workspace",
        "not in the workspace\n",
    )
    .await;
    check(
        client,
        "cd /tmp; mkfifo p; echo through > p & cat p; wait; rm p; cd",
        "through\n",
    )
    .await;
    check(client, "break; continue; echo after", "").await;
    check(client, "true; ! false; echo $?", "0\n").await;
    check(client, "false; true", "").await;
    check_fails(client, "true; false", 1, &[]).await;
    check_fails(client, "set -o pipefail; false | true", 1, &[]).await;
    check(client, "set +o pipefail; false | true", "").await;
}

#[tokio::test]
async fn traced_programs_show_their_own_commands() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    run(client, "set -x").await;
    let ran = run(client, "echo traced\nset +x").await;
    let stderr = ran.fields()["stderr"].as_str().unwrap();
    assert!(
        stderr.contains("echo traced") && !stderr.contains("codeyard"),
        "{stderr}"
    );
}

/// Names that the shell's own side uses, and everything on which it could rely.
#[tokio::test]
async fn programs_may_redefine_everything() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    for code in [
        "unset -f codeyard_turn codeyard_end codeyard_find_trap; codeyard_turn() { :; }",
        "unset codeyard_loop codeyard_exit codeyard_orders codeyard_program codeyard_status",
        "read() { echo fake; }; printf() { echo fake; }; cd() { echo fake; }; trap() { echo fake; }",
        "unset -f read printf cd trap",
        "IFS=tu; set -f; set -o posix; set +o posix; set +f; unset IFS",
        "PATH=/nowhere; ls; PATH=/opt/codeyard/programs:/usr/bin:/bin",
        "exec >/dev/null 2>&1",
        "exec <&-; exec >&-; exec 2>&-",
        "set -- a b c; shift; POSIXLY_CORRECT=1; unset POSIXLY_CORRECT",
        "rm -rf /tmp/* /tmp/.codeyard /workspace/* 2>/dev/null",
        "for name in $(compgen -v); do unset \"$name\"; done 2>/dev/null; PATH=/opt/codeyard/programs:/usr/bin:/bin",
    ] {
        let _ = run(client, code).await;
        check(
            client,
            "echo alive; mcp call stub.add a=1 b=2",
            "alive\n{\"sum\":3}\n",
        )
        .await;
    }
}
