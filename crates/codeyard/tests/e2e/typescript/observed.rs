//! The right programs over tools without output schemas, in TypeScript and in Python.

use serde_json::{Value, json};
use test_support::CodeClient;

use crate::observed;

const PYTHON: &str = include_str!("../../../../test-support/programs/observed/right.txt");
const TYPESCRIPT: &str = include_str!("../../../../test-support/programs/observed/right_typescript.txt");

/// Programs that print a list or an object, which each language writes in its own notation.
const OWN_NOTATION: [&str; 3] = ["observed-006", "observed-009", "observed-010"];

/// A program's result and output, with `@DATA@` for the servers' data directory.
#[derive(Debug, PartialEq)]
struct Outcome {
    status: String,
    result: Value,
    stdout: String,
    error: String,
}

/// The names and the code of a file's programs.
fn programs(file: &str) -> Vec<(&str, &str)> {
    let parts = file.trim_start_matches("=== ").split("\n=== ");
    parts
        .map(|part| part.split_once("\n--- right\n").unwrap())
        .collect()
}

/// Real servers with separate data, after the calls of the file.
async fn with_observed_servers() -> CodeClient {
    let mut client = observed::with_servers().await;
    observed::observe(&mut client).await;
    client
}

async fn outcome(client: &mut CodeClient, language: &str, name: &str, code: &str) -> Outcome {
    let data = client.codeyard.upstreams_data().display().to_string();
    let code = code.replace("@DATA@", &data);
    let ran = client
        .execute(json!({"code": code, "language": language, "session": name}))
        .await;
    let result = ran.result().to_string().replace(&data, "@DATA@");
    Outcome {
        status: ran.status().to_owned(),
        result: serde_json::from_str(&result).unwrap(),
        stdout: ran.stdout().replace(&data, "@DATA@"),
        error: ran.error().to_owned(),
    }
}

#[tokio::test]
async fn the_right_programs_do_the_same_in_both_languages() {
    let (mut python, mut typescript) = tokio::join!(with_observed_servers(), with_observed_servers());
    let (originals, translations) = (programs(PYTHON), programs(TYPESCRIPT));
    assert_eq!((originals.len(), translations.len()), (30, 30));
    let mut different = Vec::new();
    for ((name, original), (translated_name, translation)) in originals.into_iter().zip(translations) {
        assert_eq!(name, translated_name);
        // Both run at the same time, because some print the day or the time.
        let (mut expected, mut actual) = tokio::join!(
            outcome(&mut python, "python", name, original),
            outcome(&mut typescript, "typescript", name, translation),
        );
        if OWN_NOTATION.contains(&name) {
            expected.stdout.clear();
            actual.stdout.clear();
        }
        if actual.status != "completed" || actual != expected {
            different.push(format!("{name}: {actual:?}\nPython: {expected:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
