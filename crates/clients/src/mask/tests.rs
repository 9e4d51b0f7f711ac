//! Masks in the three formats: values are hidden in every spelling.

use proptest::prelude::*;

use super::shown::comment;
use super::*;

#[track_caller]
fn check(format: Format, text: &str, expected: &str) {
    let shown = ["/bin/codeyard", "mcp", "crm", "300"].map(str::to_owned);
    assert_eq!(masked(format, text, &shown), expected);
}

#[test]
fn values_are_hidden_and_structure_is_not() {
    check(
        Format::Json,
        "{\n  // the team's\n  \"a\": {\"command\": \"npx\", \"args\": [\"s3cret\", \"mcp\"], \"n\": 17},\n  \"x\": \"/bin/codeyard\"\n}\n",
        "{\n  // the [hidden]\n  \"a\": {\"command\": \"[hidden]\", \"args\": [\"[hidden]\", \"mcp\"], \"n\": \"[hidden]\"},\n  \"x\": \"/bin/codeyard\"\n}\n",
    );
    check(
        Format::Toml,
        "# all mine\n[mcp_servers.\"a\"]\ncommand = 'x'\nargs = [\n  \"y\",\n  'mcp'\n]\nenv = { \"K\" = \"v\" } # s3cret-s3cret-s3cret\n",
        "# all mine\n[mcp_servers.\"a\"]\ncommand = \"[hidden]\"\nargs = [\n  \"[hidden]\",\n  'mcp'\n]\nenv = { \"K\" = \"[hidden]\" } # [hidden]\n",
    );
    check(
        Format::Yaml,
        "# mine\nextensions:\n  a:\n    cmd: npx # x\n    args: [a, b]\n    list:\n    - s3cret\n    enabled: true\n    key: |\n      s3cret\n  codeyard:\n    cmd: \"/bin/codeyard\"\n    args: [\"mcp\"]\n    timeout: 300\n",
        "# mine\nextensions:\n  a:\n    cmd: [hidden]\n    args: [hidden]\n    list:\n    - [hidden]\n    enabled: true\n    key: |\n      [hidden]\n  codeyard:\n    cmd: \"/bin/codeyard\"\n    args: [\"mcp\"]\n    timeout: 300\n",
    );
}

#[test]
fn values_are_hidden_in_every_spelling() {
    for (format, text) in [
        (Format::Json, "{\"TOKEN\": \"s3c\\u0072et-\\\"x\"}"),
        (Format::Json, "{\"a\": \"s3cret-open\n}"),
        (Format::Json, "/* \"TOKEN\": \"s3cret\"\n s3cret=1 */{}"),
        (Format::Json, "// \"TOKEN\": \"s3cret\""),
        (Format::Toml, "a = \"\"\"\ns3cret\n\"\"\"\n"),
        (Format::Toml, "a = [['s3cret']]\n"),
        (
            Format::Yaml,
            "a: \"s3cret\"\nb: {c: s3cret}\nd:\n  - e: s3cret\n  - - s3cret\n  s3cret\n",
        ),
        (Format::Yaml, "enabled: true # token ghp_s3cret\n"),
        (Format::Yaml, "timeout: 300 # API_KEY=s3cret\n"),
        (Format::Yaml, "envs: # TOKEN=s3cret\n  A: 1\n"),
        (Format::Yaml, "a: |\n  s3cret: x\n  - s3cret: y\nb: true\n"),
        (Format::Yaml, "a: x\n  s3cret: x\n"),
        (Format::Yaml, "a: \"x\n s3cret: x\"\nb: 'x\n\n  s3cret: y'\n"),
        (Format::Yaml, "- \"s3cret: x\"\n- s3cret # a: b\n- {s3cret, b}\n"),
        (Format::Yaml, "a: \"x # y\" # s3cret=1\n"),
        (Format::Toml, "[mcp_servers.a] # API_KEY=s3cret\n"),
        (Format::Toml, "a = true # my password is s3cret\n"),
        (Format::Toml, "a = \"\"\"a\\\"\"\"s3cret\"\"\"\nb = 1\n"),
        (Format::Toml, "a = \"\"\"a\\\"\"\" s3cret \"\"\"\nb = 1\n"),
        (Format::Toml, "a = '''x''s3cret'''\nb = \"s3cret\"\n"),
        (Format::Toml, "a.\"b # c\" = 's3cret' # s3cret=2\n"),
        (Format::Toml, "a = \n s3cret"),
        (Format::Json, "/* my password:\n s3cret */"),
        (Format::Json, "{\"a\": 1} // token s3cret\n"),
    ] {
        let shown = masked(format, text, &[]);
        assert!(
            !shown.contains("s3c") && !shown.contains("cret"),
            "{text}: {shown}"
        );
    }
}

#[test]
fn numbers_are_hidden_like_texts() {
    for (format, text) in [
        (Format::Json, "{\"PIN\": 123456, \"b\": [-12.5e3]}"),
        (Format::Toml, "PIN = 123456\nb = [-12.5e3, 2012-12-12]\n"),
        (
            Format::Yaml,
            "PIN: 123456\nb:\n- -12.5e3\nc: 1234567890123 # ok\n",
        ),
    ] {
        let shown = masked(format, text, &[]);
        assert!(!shown.contains("12"), "{shown}");
        let shown = masked(format, text, &["123456".to_owned()]);
        assert!(shown.contains("123456"), "{shown}");
    }
}

#[test]
fn plain_comments_are_shown() {
    for text in [
        "# Not used at present.",
        "// Servers of the team",
        "# built in",
        "# slow",
    ] {
        assert_eq!(comment(text), text);
    }
    for (text, expected) in [
        ("# token of mine", "# [hidden]"),
        ("#token abc", "#[hidden]"),
        ("# since 2024", "# since [hidden]"),
    ] {
        assert_eq!(comment(text), expected);
    }
}

proptest! {
    #[test]
    fn nothing_panics_and_lines_stay(text in "[ \\t\\n:{}\\[\\],\"'a-cé/*#=\\\\-]{0,60}") {
        for format in [Format::Json, Format::Toml, Format::Yaml] {
            masked(format, &text, &[]);
        }
        prop_assert_eq!(masked(Format::Yaml, &text, &[]).lines().count(), text.lines().count());
    }
}
