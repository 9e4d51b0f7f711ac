//! `jq`: S0-61.

use super::{Tree, check, check_error, check_over, run, run_over};

const ITEMS: &str = r#"{"items": [
    {"id": 3, "name": "Cy", "tags": ["x"], "price": 2.5},
    {"id": 1, "name": "Ann", "tags": ["x", "y"], "price": 10},
    {"id": 2, "name": "Bo", "tags": [], "price": 0.1}]}"#;

/// Runs a filter over `ITEMS`.
#[track_caller]
fn check_filter(filter: &str, output: &str) {
    let tree = Tree::default().file("/scratch/i.json", ITEMS);
    check_over(&tree, &format!("jq '{filter}' i.json"), output);
}

/// Runs a filter over one document.
#[track_caller]
fn check_document(document: &str, filter: &str, output: &str) {
    let tree = Tree::default().file("/scratch/d.json", document);
    check_over(&tree, &format!("jq '{filter}' d.json"), output);
}

#[test]
fn results_are_lines() {
    for (line, output) in [
        ("jq .a n.json", "1\n"),
        (
            "jq . n.json",
            "{\"a\": 1, \"b\": [1, 2, 3], \"c\": {\"d\": \"text\", \"e\": null, \"f\": true}}\n",
        ),
        ("jq .b[] n.json", "1\n2\n3\n"),
        ("jq .b n.json", "[1, 2, 3]\n"),
        ("jq '.c.d' n.json", "text\n"),
        ("jq .c.e n.json", "null\n"),
        ("jq .c.f n.json", "true\n"),
        ("jq .missing n.json", "null\n"),
        ("jq empty n.json", ""),
        ("jq length n.json", "3\n"),
        ("jq -.a n.json", "-1\n"),
        ("jq '-1' n.json", "-1\n"),
        ("jq -r .c.d n.json", "text\n"),
        ("jq -c .b n.json", "[1, 2, 3]\n"),
        ("jq -rc .b n.json", "[1, 2, 3]\n"),
        ("jq .a n.json -r", "1\n"),
        ("jq -- .a n.json", "1\n"),
        ("jq .a n.json n.json", "1\n1\n"),
        ("jq {a,b:.c.d} n.json", "{\"a\": 1, \"b\": \"text\"}\n"),
        ("jq \".b[] as \\$x | \\$x\" n.json", "1\n2\n3\n"),
        ("jq \".b[] as $x | $x\" n.json", "1\n2\n3\n"),
    ] {
        check(line, output);
    }
}

#[test]
fn the_input_is_filtered() {
    check("cat n.json | jq .a", "1\n");
    check("cat n.json | jq .b[] | jq '. * 2'", "2\n4\n6\n");
    check("jq .a", "");
    check("cat empty.txt | jq .a", "");
    check("jq . empty.txt", "");
    check("cat n.json n.json | jq .a", "1\n1\n");
}

#[test]
fn several_documents() {
    check_document("1 2\n3", ".", "1\n2\n3\n");
    check_document("{\"a\":1}\n{\"a\":2}\n", ".a", "1\n2\n");
    check_document(" \n ", ".", "");
}

#[test]
fn values_keep_their_form() {
    for (document, output) in [
        ("12345678901234567890123", "12345678901234567890123\n"),
        ("1.10", "1.10\n"),
        ("1e2", "1e2\n"),
        ("-0", "0\n"),
        ("\"\\u00fcber \\\"x\\\"\\n\"", "über \"x\"\n\n"),
        (
            "[\"\\u00fc\\n\\t\\\"\\\\/\\u0001\"]",
            "[\"ü\\n\\t\\\"\\\\/\\u0001\"]\n",
        ),
        ("[\"\u{7f}😀\"]", "[\"\u{7f}😀\"]\n"),
        ("{\"b\": 1, \"a\": {}}", "{\"b\": 1, \"a\": {}}\n"),
        ("[[], {}, [1]]", "[[], {}, [1]]\n"),
    ] {
        check_document(document, ".", output);
    }
}

#[test]
fn numbers_are_written_as_by_jq() {
    for (filter, output) in [
        ("4 / 2", "2\n"),
        ("1 / 3", "0.3333333333333333\n"),
        ("[nan]", "[null]\n"),
        (
            "[infinite, -infinite]",
            "[1.7976931348623157e308, -1.7976931348623157e308]\n",
        ),
        ("9007199254740993", "9007199254740993\n"),
        ("pow(2; 10)", "1024\n"),
        ("1.5 + 1.5", "3\n"),
        ("10 % 3", "1\n"),
    ] {
        check_filter(filter, output);
    }
}

#[test]
fn filters() {
    for (filter, output) in [
        (".items[].name", "Cy\nAnn\nBo\n"),
        (".items | length", "3\n"),
        (
            ".items[0]",
            "{\"id\": 3, \"name\": \"Cy\", \"tags\": [\"x\"], \"price\": 2.5}\n",
        ),
        (".items[-1].id", "2\n"),
        (".items[1:] | map(.id)", "[1, 2]\n"),
        (".items | map(select(.price > 1) | .name)", "[\"Cy\", \"Ann\"]\n"),
        (".items | sort_by(.id) | .[].id", "1\n2\n3\n"),
        (".items | group_by(.tags | length) | map(length)", "[1, 1, 1]\n"),
        (".items | map(.price) | add", "12.6\n"),
        (".items | max_by(.price) | .name", "Ann\n"),
        (
            "[.items[] | {name, n: (.tags | length)}]",
            "[{\"name\": \"Cy\", \"n\": 1}, {\"name\": \"Ann\", \"n\": 2}, {\"name\": \"Bo\", \"n\": 0}]\n",
        ),
        (
            ".items | map({(.name): .id}) | add",
            "{\"Cy\": 3, \"Ann\": 1, \"Bo\": 2}\n",
        ),
        ("keys", "[\"items\"]\n"),
        (".items[0] | keys", "[\"id\", \"name\", \"price\", \"tags\"]\n"),
        (
            ".items[0] | to_entries | map(.key) | join(\",\")",
            "id,name,tags,price\n",
        ),
        (".items[0] | with_entries(.value |= tostring) | .id", "3\n"),
        (".items[0] | has(\"id\"), has(\"no\")", "true\nfalse\n"),
        (
            ".items[0] | del(.tags, .price)",
            "{\"id\": 3, \"name\": \"Cy\"}\n",
        ),
        ("[.items[].tags[]] | unique", "[\"x\", \"y\"]\n"),
        (".items | any(.id == 2), all(.id > 0)", "true\ntrue\n"),
        ("[.items[].name | test(\"^[AB]\")]", "[false, true, true]\n"),
        (
            ".items[1].name | ascii_downcase, (split(\"\") | length), sub(\"n+\"; \"m\")",
            "ann\n3\nAm\n",
        ),
        ("\"\\(.items[0].id) of \\(.items | length)\"", "3 of 3\n"),
        (".items[0] | .price = 1 | .price", "1\n"),
        (".items[] |= .id | .items", "[3, 1, 2]\n"),
        (".items[0].price // 7, .none // 7", "2.5\n7\n"),
        ("if .items then \"yes\" else \"no\" end", "yes\n"),
        ("reduce .items[] as $i (0; . + $i.id)", "6\n"),
        ("[foreach .items[] as $i (0; . + $i.id)]", "[3, 4, 6]\n"),
        ("[limit(2; .items[].id)], first(.items[].id)", "[3, 1]\n3\n"),
        (".items as [$a, $b] | $a.id + $b.id", "4\n"),
        (
            "[range(3)], [range(1; 4)], [range(10; 0; -4)], [range(0; 1; 0.5)]",
            "[0, 1, 2]\n[1, 2, 3]\n[10, 6, 2]\n[0, 0.5]\n",
        ),
        ("[paths(type == \"number\")] | length", "6\n"),
        ("[.. | numbers] | length", "6\n"),
        ("try error(\"no\") catch .", "no\n"),
        ("[.items[] | .name?], (1 | .a?)", "[\"Cy\", \"Ann\", \"Bo\"]\n"),
        (
            "label $out | .items[].id | if . == 1 then break $out else . end",
            "3\n",
        ),
        (
            ".items[0].tags | contains([\"x\"]), index(\"x\"), inside([\"x\", \"y\"])",
            "true\n0\ntrue\n",
        ),
        (
            "[.items[].id] | tojson, (tojson | fromjson)",
            "[3,1,2]\n[3, 1, 2]\n",
        ),
        (
            "[\"a\", 1, null, true, \"x \\\"y\\\"\"] | @csv",
            "\"a\",1,,true,\"x \"\"y\"\"\"\n",
        ),
        ("[\"a\\tb\\\\\", 1, null] | @tsv", "a\\tb\\\\\t1\t\n"),
        (
            ".items[] | [.id, .name] | @csv",
            "3,\"Cy\"\n1,\"Ann\"\n2,\"Bo\"\n",
        ),
        (
            "try ([[1]] | @csv) catch .",
            "array ([1]) is not valid in a row\n",
        ),
        (
            ".items | INDEX(.name) | map_values(.id)",
            "{\"Cy\": 3, \"Ann\": 1, \"Bo\": 2}\n",
        ),
        ("2 | IN(1, 2), IN(3)", "true\nfalse\n"),
        ("[1 | toarray, ([2] | toarray)]", "[[1], [2]]\n"),
        ("65 | ascii", "A\n"),
        (
            "[\"a b\"] | @sh, (.[0] | @uri, @base64, (@base64 | @base64d), @json)",
            "'a b'\na%20b\nYSBi\na b\n\"a b\"\n",
        ),
        ("0 | todate", "1970-01-01T00:00:00Z\n"),
        ("\"2024-02-29T00:00:00Z\" | fromdate", "1709164800\n"),
        ("def f(x): x * 2; .items[0].id | f(.)", "6\n"),
        (
            "def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 10 | fac",
            "3628800\n",
        ),
        (
            "[splits(\"a\")?], (\"a1b2\" | [match(\"[0-9]\"; \"g\").string])",
            "[]\n[\"1\", \"2\"]\n",
        ),
        (". as $d | $d.items | length", "3\n"),
        ("1 | debug", "1\n"),
        ("{a: {b: 1}} * {a: {c: 2}}", "{\"a\": {\"b\": 1, \"c\": 2}}\n"),
        ("[1, [2, [3]]] | flatten", "[1, 2, 3]\n"),
        (
            "[3, 1, 2] | sort, min, max, reverse",
            "[1, 2, 3]\n1\n3\n[2, 1, 3]\n",
        ),
        ("{(1): 2}", "{\"1\": 2}\n"),
    ] {
        check_filter(filter, output);
    }
}

#[test]
fn c087_mistakes() {
    for (line, error) in [
        ("jq", "jq: missing filter"),
        ("jq -r", "jq: missing filter"),
        ("cat n.json | jq", "jq: missing filter"),
        ("jq '.['", "jq: invalid filter: '[' is not closed"),
        (
            "jq . /scratch/bad.json",
            "jq: invalid JSON input: byte offset 1: value or end of sequence expected",
        ),
        (
            "jq '.a |' n.json",
            "jq: invalid filter: expected term, found the end",
        ),
        (
            "jq '.a b' n.json",
            "jq: invalid filter: expected nothing, found 'b'",
        ),
        ("jq nope n.json", "jq: invalid filter: nope is not defined"),
        (
            "jq 'f(1; 2)' n.json",
            "jq: invalid filter: f with 2 arguments is not defined",
        ),
        ("jq '$x' n.json", "jq: invalid filter: variable $x is not defined"),
        ("jq '§' n.json", "jq: invalid filter: expected token, found '§'"),
        (
            "jq '.a.b' n.json",
            "jq: invalid filter: cannot index 1 with \"b\"",
        ),
        (
            "jq '.a[]' n.json",
            "jq: invalid filter: cannot use 1 as iterable (array or object)",
        ),
        (
            "jq 'error' n.json | cat",
            "jq: invalid filter: {\"a\":1,\"b\":[1,2,3],\"c\":{\"d\":\"text\",\"e\":null,\"f\":true}}",
        ),
        (
            "cat a.txt | jq .",
            "jq: invalid JSON input: byte offset 0: value expected",
        ),
    ] {
        check_error(line, 1, error);
    }
    check_error(
        &format!("jq '{}' n.json", " ".repeat(1025)),
        1,
        "jq: filter too long (max 1024 chars)",
    );
    assert_eq!(run(&format!("jq '.a{}' n.json", " ".repeat(1022))).output, "1\n");
}

#[test]
fn other_mistakes() {
    let denied = |path: &str| format!("EACCES: read denied for path: {path}");
    for (line, exit, error) in [
        ("jq . nope", 126, denied("/scratch/nope")),
        ("jq . /tools", 126, denied("/tools")),
        ("jq . link", 126, denied("/scratch/link")),
        ("jq . n.json denied.txt", 126, denied("/scratch/denied.txt")),
        ("jq . /etc/passwd", 126, denied("/etc/passwd")),
        ("jq -s . n.json", 2, "Unsupported jq option: -s".to_owned()),
        (
            "jq --arg a b . n.json",
            2,
            "Unsupported jq option: --arg".to_owned(),
        ),
        ("jq -n 1", 2, "Unsupported jq option: -n".to_owned()),
    ] {
        check_error(line, exit, &error);
    }
}

#[test]
fn filters_reach_nothing_of_the_machine() {
    for (filter, error) in [
        ("env", "env is not defined"),
        ("$ENV", "variable $ENV is not defined"),
        ("env.PATH", "env is not defined"),
        ("halt", "halt is not defined"),
        ("halt_error", "halt_error is not defined"),
        ("localtime", "localtime is not defined"),
        ("input", "input is not defined"),
        ("import \"a\" as a; 1", "a: module loading not supported"),
        (
            "include \"/etc/passwd\"; 1",
            "/etc/passwd: module loading not supported",
        ),
        ("import \"a\" as $a; 1", "a: module loading not supported"),
        ("import \"a\" as $a; $a", "a: module loading not supported"),
    ] {
        let ended = run(&format!("jq '{filter}' n.json"));
        assert_eq!(ended.output, "", "{filter}");
        assert_eq!(ended.error, format!("jq: invalid filter: {error}"), "{filter}");
    }
}

#[test]
fn results_before_an_error_are_kept() {
    let tree = Tree::default().file("/scratch/d.json", "1 2 {");
    let ended = run_over(&tree, "jq . d.json");
    assert_eq!(ended.output, "1\n2\n");
    assert_eq!(
        ended.error,
        "jq: invalid JSON input: byte offset 5: value or end of sequence expected"
    );
    assert_eq!(ended.exit, 1);
}

#[test]
fn messages_are_short_and_harmless() {
    let tree = Tree::default().file(
        "/scratch/d.json",
        format!("[\"{}\\u001b\\u202e\"]", "x".repeat(10_000)),
    );
    let error = run_over(&tree, "jq .a d.json").error;
    assert!(error.chars().count() < 300, "{error}");
    let tree = Tree::default().file("/scratch/d.json", "\"\\u001b\\u202e\\n\"");
    let error = run_over(&tree, "jq error d.json").error;
    assert!(!error.chars().any(types::is_unseen), "{error:?}");
}
