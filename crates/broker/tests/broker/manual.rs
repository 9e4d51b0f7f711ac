//! Runs every example of the manual, in order, in one session of a real codeyard.

use test_support::{CodeClient, Codeyard, codeyard_binary};

use super::*;

const MANUAL: &str = include_str!("../../src/manual.md");

/// An example with the model's expected text, if the manual states one.
struct Example<'a> {
    code: &'a str,
    shown: Option<&'a str>,
}

fn examples() -> Vec<Example<'static>> {
    let mut examples: Vec<Example<'static>> = Vec::new();
    for part in MANUAL.split("```").skip(1).step_by(2) {
        let (kind, text) = part.split_once('\n').expect("a kind on the first line");
        match (kind, examples.last_mut()) {
            ("python", _) => examples.push(Example {
                code: text,
                shown: None,
            }),
            ("text", Some(example)) => example.shown = Some(text.trim_end()),
            (kind, _) => panic!("a block of kind {kind:?}"),
        }
    }
    examples
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_does_what_it_says() {
    let crm = ServerDefinition::new(codeyard_binary().to_string_lossy(), &["demo-server", "crm"]);
    let codeyard = Codeyard::new().expect("directories").server("crm", &crm);
    let mut client = CodeClient::of(codeyard).await;
    let examples = examples();
    assert!(examples.len() >= 5);
    for example in examples {
        let ran = client.run(example.code).await;
        assert_eq!(ran.status(), "completed", "{}\n{}", example.code, ran.shown());
        if let Some(shown) = example.shown {
            assert_eq!(ran.shown().trim_end(), shown, "{}", example.code);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_helper_that_the_manual_names_exists() {
    let mut client = CodeClient::with_stub().await;
    let mut names: Vec<&str> = MANUAL
        .match_indices("runtime.")
        .map(|(at, lead)| &MANUAL[at + lead.len()..])
        .map(|rest| {
            &rest[..rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len())]
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.contains(&"search") && names.len() >= 5, "{names:?}");
    for name in names {
        let ran = client.run(&format!("callable(runtime.{name})")).await;
        assert_eq!(ran.result(), &json!(true), "runtime.{name}: {}", ran.shown());
    }
    let ran = client.run("runtime.manual()").await;
    assert_eq!(ran.result(), &json!(MANUAL));
}
