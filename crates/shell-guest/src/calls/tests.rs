//! Calls found in programs.

use proptest::prelude::*;
use types::FoundArguments;

use super::*;

/// Checks the calls of a program, each as `line server.tool arguments`; `?` marks an expected failure.
fn check(code: &str, expected: &[&str]) {
    let found: Vec<String> = find(code).calls.iter().map(shown).collect();
    assert_eq!(found, expected, "{code}");
}

fn shown(call: &FoundCall) -> String {
    let mark = if call.is_expected { "?" } else { "" };
    let arguments = match &call.arguments {
        FoundArguments::Unknown => "unknown".to_owned(),
        FoundArguments::Wrong(what) => format!("wrong: {what}"),
        FoundArguments::Known {
            arguments, unknown, ..
        } => {
            let unknown: Vec<String> = unknown.iter().map(|path| path.join(".")).collect();
            let known = serde_json::to_string(arguments).unwrap();
            let unknown = if unknown.is_empty() {
                String::new()
            } else {
                format!(" without {}", unknown.join(","))
            };
            let words = if call.words.is_empty() {
                String::new()
            } else {
                format!(" words {}", call.words.join(","))
            };
            format!("{known}{unknown}{words}")
        }
    };
    format!("{}{mark} {}.{} {arguments}", call.line, call.server, call.tool)
}

#[test]
fn calls_with_words() {
    check("mcp call crm.get id=5", &[r#"1 crm.get {"id":"5"} words id"#]);
    check(
        "\n\nmcp call crm.get id='a b' n=\"c\"d",
        &[r#"3 crm.get {"id":"a b","n":"cd"} words id,n"#],
    );
    check("mcp call crm.get", &["1 crm.get {}"]);
    check(
        "mcp call crm.get id=\"$x\"",
        &[r#"1 crm.get {"id":null} without id"#],
    );
    check(
        "mcp call crm.get id=a$x-b",
        &[r#"1 crm.get {"id":null} without id"#],
    );
    check(
        "mcp call crm.get id=*.txt",
        &[r#"1 crm.get {"id":null} without id"#],
    );
    check(
        "mcp call --raw crm.get id=1 2>/dev/null",
        &[r#"1 crm.get {"id":"1"} words id"#],
    );
    check(
        "mcp call crm.get id=1 >out 2>&1 &",
        &[r#"1 crm.get {"id":"1"} words id"#],
    );
    check(
        "mcp call crm.get \\\n  id=1",
        &[r#"1 crm.get {"id":"1"} words id"#],
    );
}

#[test]
fn calls_with_json() {
    check(r#"mcp call a.b '{"x": 1}'"#, &[r#"1 a.b {"x":1}"#]);
    check(r#"mcp call a.b "{\"x\": [1]}""#, &[r#"1 a.b {"x":[1]}"#]);
    check(r#"mcp call a.b "{\"x\": $y}""#, &["1 a.b unknown"]);
    check(
        r#"mcp call a.b '{"x": 1}' y=2"#,
        &[r#"1 a.b {"x":1,"y":"2"} words y"#],
    );
    check("mcp call a.b \"$json\"", &["1 a.b unknown"]);
    check("echo '{}' | mcp call a.b -", &["1 a.b unknown"]);
    check("mcp call a.b \"${args[@]}\"", &["1 a.b unknown"]);
    let unquoted = find(r#"mcp call a.b {"x":1}"#);
    assert!(matches!(&unquoted.calls[0].arguments, FoundArguments::Wrong(what) if what.contains("not JSON")));
    check("mcp call a.b value", &["1 a.b wrong: other words"]);
}

#[test]
fn calls_anywhere() {
    let one = r#"a.b {"x":"1"} words x"#;
    let each = |code: &str| check(code, &[&format!("1 {one}")]);
    each("x=$(mcp call a.b x=1)");
    each("echo \"got: $(mcp call a.b x=1 | jq .id) for ${y:-\"}\"}\"");
    each("(cd /tmp; mcp call a.b x=1)");
    each("{ mcp call a.b x=1; }");
    each("for i in 1 2; do mcp call a.b x=1; done");
    each("f() { mcp call a.b x=1; }; f");
    each("A=1 mcp call a.b x=1");
    each("true && mcp call a.b x=1 | jq -r '.a | .b'");
    each("mapfile -t ids < <(mcp call a.b x=1)");
    each("case $y in a|b) mcp call a.b x=1 ;; esac");
    each("mcp call a.b x=1 & wait");
    each("time mcp call a.b x=1");
    check("if mcp call a.b x=1; then :; fi", &[&format!("1? {one}")]);
    check("mcp call a.b x=1 || true", &[&format!("1? {one}")]);
    check("! mcp call a.b x=1", &[&format!("1? {one}")]);
    check(
        "cat <<EOF\nmcp call no.no\nEOF\nmcp call a.b x=1",
        &[&format!("4 {one}")],
    );
    check(
        "cat <<-'A B'\n\tmcp call no.no\n\tA B\nmcp call a.b x=1",
        &[&format!("4 {one}")],
    );
}

#[test]
fn what_is_no_call() {
    for code in [
        "",
        "echo mcp call a.b",
        "echo 'mcp call a.b'; # mcp call a.b",
        "# mcp call a.b x=1",
        "mcp search words",
        "mcp call \"$tool\" x=1",
        "mcp call nothing",
        "$mcp call a.b",
        "xargs mcp call a.b",
        "cat <<< 'mcp call a.b'",
        "mcp() { echo; }; mcp call a.b",
        "function mcp { echo; }; mcp call a.b",
        "alias mcp=echo; mcp call a.b",
        "PATH=/tmp:$PATH; mcp call a.b",
        "export PATH=/tmp; mcp call a.b",
        "echo 'unclosed\nmcp call a.b",
        "cat <<EOF\nmcp call a.b",
    ] {
        check(code, &[]);
    }
}

#[test]
fn deep_nesting_ends_the_reading() {
    check(&"$(".repeat(100_000), &[]);
    check(&"(".repeat(100_001), &[]);
    check(&"${".repeat(100_000), &[]);
}

proptest! {
    #[test]
    fn any_text_is_read(code in "[mcp al.b={}$()<>|&;'\"`\\\\#\n\t é]{0,200}") {
        for call in find(&code).calls {
            prop_assert!(usize::try_from(call.line).unwrap() <= code.matches('\n').count() + 1);
        }
    }
}
