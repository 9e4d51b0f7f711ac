//! Whatever a task says, Python reads its program, which contains nothing but the planned calls.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::tools::{planned, request, samples, search, tool, units};
use offline_task::{PlanRequest, ProgramOverrides, ToolNames, plan, program};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

const PROGRAMS: usize = 200;

/// Pieces of tasks: words that tools match, and text that could end a literal or a comment.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "Calculate 5 + 3",
        "get the weather for",
        "San Francisco",
        "write",
        "and then",
        "save it to",
        "notes.txt",
        "\"",
        "'",
        "\\",
        "\\\"",
        "\"\"\"",
        "'''",
        "\n",
        "\r\n",
        "#",
        "# coding: utf-16",
        "-*- coding: latin-1 -*-",
        "\u{2028}",
        "\u{202e}",
        "{",
        "}",
        "{\"a\": [1, null]}",
        "$(rm)",
        "`x`",
        "); import os; os.exit(",
        "\u{1f600}",
        "5 +",
        "(1",
        "x=\"y",
        "content=",
        "location=",
        "\u{201c}a\u{201d}",
        "eval(1)",
        "path=\"a\\\\\"",
        "1e999",
        "99999999999999999999",
        "%s",
        "\t",
        "if",
        "\u{e0041}",
    ];
    prop_oneof![
        3 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => any::<String>().prop_map(|text| text.chars().take(12).collect()),
    ]
}

#[test]
fn no_text_of_a_task_breaks_out_of_its_literal() {
    let search = samples(&[units()]);
    let task = proptest::collection::vec(piece(), 1..9).prop_map(|pieces| pieces.join(" "));
    let mut runner = TestRunner::deterministic();
    let mut programs = Vec::new();
    for _ in 0..20 * PROGRAMS {
        let text = task.new_tree(&mut runner).expect("a task").current();
        let Ok(plan) = plan(&request(&text), &search, &|_| true) else {
            continue;
        };
        // Also plans that cannot be run, as long as they call something.
        if plan.steps.iter().any(|step| step.call.is_some()) && programs.len() < PROGRAMS {
            programs.push(program(&plan, &ProgramOverrides::default()));
        }
        assert_eq!(plan.problems(), plan.problems());
    }
    assert_eq!(programs.len(), PROGRAMS);
    #[expect(clippy::disallowed_methods, reason = "the test waits for the process's end")]
    let mut python = Command::new("python3");
    let parse = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task/parse.py");
    let mut reader = python.arg(parse).stdin(Stdio::piped()).spawn().expect("Python");
    let json = serde_json::to_vec(&programs).expect("JSON");
    reader
        .stdin
        .take()
        .expect("a pipe")
        .write_all(&json)
        .expect("written");
    assert!(reader.wait().expect("an end").success());
}

/// Even the longest text is read quickly; the bound allows for a slow machine and a test build.
#[test]
fn no_text_takes_long_to_read() {
    let search = samples(&[units()]);
    for piece in [
        "1,",
        "[1,",
        "{\"a\":",
        "\"",
        "(",
        "5 + ",
        "A ",
        "Read \"x\". ",
        "read a.txt and ",
    ] {
        let text: String = piece.repeat(4096).chars().take(4090).collect();
        let start = Instant::now();
        let plan = plan(&request(&text), &search, &|_| true);
        assert!(
            plan.is_err() || start.elapsed() < Duration::from_secs(20),
            "{piece}"
        );
    }
}

/// A tool whose name the program defines or uses from Python is imported under another.
#[test]
fn no_tool_takes_a_name_of_the_program() {
    let task = "Calculate 5 + 3, save the result to sum.txt, and get weather for Rome";
    let plain = program(&planned(&samples(&[]), task), &ProgramOverrides::default());
    let names = names(&plain);
    assert!(names.iter().any(|name| name == "results"), "{names:?}");
    let tools: Vec<_> = names
        .iter()
        .map(|name| tool(name, "Does something", 0, &[]))
        .collect();
    let search = search([("x".to_owned(), tools.into())]);
    let required = ToolNames::from([("x".to_owned(), names.clone())]);
    let request = PlanRequest {
        required: Some(&required),
        ..request("anything")
    };
    let plan = plan(&request, &search, &|_| true).expect("a plan");
    let overrides = ProgramOverrides {
        header: None,
        calls: vec![("x".to_owned(), "pass".to_owned())],
    };
    let code = program(&plan, &overrides);
    let (_, imports) = code.split_once("from servers.x import ").expect("imports");
    let imports = imports.lines().next().unwrap_or_default().split(", ");
    let locals = imports.filter_map(|import| import.split(" as ").last());
    let taken: Vec<&str> = locals
        .filter(|local| names.iter().any(|name| name == local))
        .collect();
    assert_eq!(taken, [""; 0], "{code}");
}

/// Names that the program defines for all its parts, and those it uses from Python.
fn names(program: &str) -> Vec<String> {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task/names.py");
    #[expect(clippy::disallowed_methods, reason = "the test waits for the process's end")]
    let mut python = Command::new("python3");
    let python = python.arg(list).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.spawn().expect("Python");
    let mut input = python.stdin.take().expect("a pipe");
    input.write_all(program.as_bytes()).expect("written");
    drop(input);
    let output = python.wait_with_output().expect("an end");
    serde_json::from_slice(&output.stdout).expect("names")
}

/// No source may know the sample tools: other tools must be treated alike.
#[test]
fn no_source_names_a_sample_tool() {
    let samples: serde_json::Value = serde_json::from_str(include_str!("sample.json")).expect("JSON");
    let mut names: Vec<String> = Vec::new();
    for (server, tools) in samples.as_object().expect("servers") {
        names.push(server.clone());
        for tool in tools.as_array().expect("tools") {
            let name = tool["name"].as_str().expect("a name");
            names.push(format!("{server}.{name}"));
            // `add`, `query` and the like occur in any text.
            names.extend((name.contains('_') || name.len() > 7).then(|| name.to_owned()));
        }
    }
    assert!(names.len() > 15, "{names:?}");
    let mut directories = vec![std::path::PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src"
    ))];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let source = text.split("#[cfg(test)]").next().unwrap_or_default();
            for name in &names {
                let mut words = source.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
                assert!(!words.any(|word| word == name), "{} in {}", name, path.display());
            }
        }
    }
}
