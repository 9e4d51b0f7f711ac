//! Printed output: a model gets a bounded part, and a file has everything.

use accounting::Tokenizer;
use serde_json::json;
use test_support::{BridgeClient, CodeClient, CodeResult, Codeyard};

/// Most tokens of printed output for a model, including the text around it.
const MOST_TOKENS: u64 = 5_000;

fn tokens(text: &str) -> u64 {
    let tokenizer = Tokenizer::load().expect("the table of tokens");
    tokenizer.text(text)
}

/// Runs a program that prints much: the answer is bounded in text and fields, and a file has `bytes` bytes.
async fn check(code: &str, bytes: u64) -> CodeResult {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let ran = client.run(code).await;
    assert!(
        tokens(ran.shown()) <= MOST_TOKENS,
        "{code}: {} tokens",
        tokens(ran.shown())
    );
    let fields = ran.fields().to_string();
    assert!(fields.len() <= 20 * 1024, "{code}: {} bytes", fields.len());
    let size = "import os\nreturn os.path.getsize('/results/stdout-1.txt')";
    assert_eq!(client.run(size).await.result(), &json!(bytes), "{code}");
    ran
}

#[tokio::test]
async fn a_hundred_thousand_lines() {
    let ran = check("for n in range(100_000): print('line', n)", 1_088_890).await;
    let lines: Vec<&str> = ran.stdout().lines().collect();
    assert_eq!((lines[0], lines[lines.len() - 1]), ("line 0", "line 99999"));
    let is_whole = |line: &&str| line.starts_with("line ") || line.starts_with('[');
    assert!(lines.iter().all(is_whole), "lines are whole");
    let marker = lines.iter().find(|line| line.starts_with('['));
    assert!(
        marker.is_some_and(|marker| marker.ends_with("bytes cut here; all of it: /results/stdout-1.txt]")),
        "{marker:?}"
    );
}

#[tokio::test]
async fn one_line_of_ten_megabytes() {
    let ran = check("print('word ' * 2_000_000)", 10_000_001).await;
    assert!(ran.stdout().starts_with("word word") && ran.stdout().contains("bytes cut here"));
}

#[tokio::test]
async fn few_bytes_of_many_tokens() {
    check("print('[({0}),' * 2_000)", 14_001).await;
}

#[tokio::test]
async fn characters_of_three_bytes() {
    check("print('漢字仮名' * 1_500)", 18_001).await;
}

#[tokio::test]
async fn escapes_of_a_terminal() {
    check(r"print('\x1b[31mred\x1b[0m\n' * 3_000)", 39_001).await;
}

#[tokio::test]
async fn the_bridge_is_bounded_too() {
    let mut client = BridgeClient::with_stub().await;
    let answer = client.run("for n in range(100_000): print('line', n)").await;
    assert!(tokens(answer.text()) <= MOST_TOKENS, "{}", answer.text().len());
    assert!(
        answer.fields().to_string().len() <= 24 * 1024,
        "{}",
        answer.fields()
    );
    assert!(answer.text().contains("all of it: /tmp/stdout-1.txt]"));
}

#[tokio::test]
async fn both_streams_share_the_room() {
    let code = "import sys\nfor n in range(2_000): print('line', n); print('error', n, file=sys.stderr)";
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let ran = client.run(code).await;
    assert!(tokens(ran.shown()) <= MOST_TOKENS, "{}", ran.shown());
    assert!(ran.stdout().ends_with("line 1999\n") && ran.stderr().ends_with("error 1999\n"));
    assert!(
        ran.stderr().contains("all of it: /results/stderr-1.txt]"),
        "{}",
        ran.stderr()
    );
}

#[tokio::test]
async fn the_settings_limit_the_shown_part() {
    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[output]\nmax_printed = \"2 KiB\"");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("for n in range(1_000): print('line', n)").await;
    assert!(ran.stdout().len() < 2_200, "{} bytes", ran.stdout().len());
}

#[tokio::test]
async fn output_before_a_time_out_is_shown() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let code = "for n in range(100_000): print('line', n)\nwhile True: pass";
    let ran = client.execute(json!({"code": code, "timeout_ms": 2_000})).await;
    assert_eq!(ran.status(), "timed_out");
    assert!(ran.stdout().starts_with("line 0\n") && ran.stdout().contains("bytes cut here"));
}
