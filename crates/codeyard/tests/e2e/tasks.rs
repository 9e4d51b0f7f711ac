//! Tasks in words on the command line, over tool files and MCP tools: planned, run, refused, and explained step by
//! step.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use test_support::{Codeyard, CommandOutput, run};

mod examples;

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tool-files")
}

/// Runs a task on the tools of a directory.
async fn task_on(codeyard: &Codeyard, tools: &Path, text: &str, options: &[&str]) -> CommandOutput {
    let tools = tools.to_str().unwrap();
    run(
        codeyard,
        &[&["task", text, "--tools", tools], options].concat(),
        "",
    )
    .await
}

async fn task(text: &str, options: &[&str]) -> CommandOutput {
    task_on(&Codeyard::new().unwrap(), &samples(), text, options).await
}

/// Checks a task's end and that the output contains all of these.
async fn check(text: &str, options: &[&str], code: i32, expected: &[&str]) -> CommandOutput {
    let ended = task(text, options).await;
    assert_eq!(ended.code, code, "{text}: {ended:?}");
    let told = format!("{}{}", ended.out, ended.err);
    for expected in expected {
        assert!(told.contains(expected), "{text}: no {expected:?} in {told}");
    }
    ended
}

fn write_tool(directory: &Path, server: &str, tool: &str, code: &str) {
    let server = directory.join("servers").join(server);
    std::fs::create_dir_all(&server).unwrap();
    std::fs::write(server.join(format!("{tool}.py")), code).unwrap();
}

#[tokio::test]
async fn the_sample_tools_work() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/tasks/samples.py");
    let args = [
        "run",
        program.to_str().unwrap(),
        "--tools",
        samples().to_str().unwrap(),
    ]
    .map(str::to_owned);
    let codeyard = Codeyard::new().unwrap();
    let ended = run(&codeyard, &args.each_ref().map(String::as_str), "").await;
    assert_eq!((ended.code, ended.out.trim()), (0, "all hold"), "{ended:?}");
}

/// C179, C184: an added tool is selected without a restart; a task without a tool is reported.
#[tokio::test]
async fn other_tools_are_selected_by_the_same_rules() {
    let codeyard = Codeyard::new().unwrap();
    let directory = codeyard.work_directory().join("mine");
    write_tool(
        &directory,
        "units",
        "convert",
        "def convert(value: float, from_unit: str, to_unit: str) -> float:\n    \"\"\"Convert a length from one unit to another.\"\"\"\n    return round(value * {\"km\": 1, \"miles\": 1.609344}[from_unit] / {\"km\": 1, \"miles\": 1.609344}[to_unit], 3)\n",
    );
    let ended = task_on(&codeyard, &directory, "Convert 10 km to miles", &["--verbose"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("units.convert: 6.214"), "{ended:?}");
    let ended = check("Update my calendar", &["--json"], 1, &[]).await;
    let report = ended.json();
    assert_eq!(report["selected"], serde_json::json!({}), "{report}");
    let error = report["error"].as_str().unwrap();
    assert!(
        error.starts_with("no tool of 11 answers \"Update my calendar\""),
        "{error}"
    );
    assert_eq!(report["code"], serde_json::Value::Null);
}

/// C186, C187, C189: all steps are shown, and only selected tools are imported.
#[tokio::test]
async fn a_task_is_explained_step_by_step() {
    let ended = check(
        "Calculate 5 + 3",
        &["--verbose"],
        0,
        &[
            "1. Discover: 4 servers, 11 tools",
            "2. Select: 3 tools for 1 step",
            "3. Generate: a program of ",
            "from servers.calculator import add, calculate, multiply",
            "4. Execute: success",
            "5 + 3 = 8",
            "11 tools discovered, 3 selected (27 %), 73 % fewer",
        ],
    )
    .await;
    let program = ended.out.split("3. Generate").nth(1).unwrap();
    for unselected in ["weather", "filesystem", "database"] {
        assert!(!program.contains(unselected), "{unselected}: {program}");
    }
    let ended = check(
        "Calculate 5 + 3 and get weather for San Francisco",
        &["--json"],
        0,
        &[],
    )
    .await;
    let report = ended.json();
    assert_eq!(report["result"], "success", "{report}");
    assert_eq!(report["error"], serde_json::Value::Null);
    let output = report["output"].as_str().unwrap();
    assert!(output.contains("5 + 3 = 8") && output.contains("21"), "{output}");
}

/// C187: tools that are not imported are not loaded.
#[tokio::test]
async fn only_imported_tools_are_loaded() {
    let code = r#"{"calculator": "import sys\nprint(calculate(expression='5 + 3'), sorted(name for name in sys.modules if name.startswith('servers')))"}"#;
    let ended = check("Calculate 5 + 3", &["--task-specific-calls", code], 0, &["8 ["]).await;
    for unselected in ["weather", "filesystem", "database"] {
        assert!(!ended.out.contains(unselected), "{ended:?}");
    }
}

/// C358.
#[tokio::test]
async fn tools_and_calls_may_be_given() {
    let given = [
        "--required-tools",
        r#"{"calculator": ["add"]}"#,
        "--task-specific-calls",
        r#"{"calculator": "print(add(1,1))"}"#,
        "--header",
        "# H",
    ];
    let ended = check("anything", &given, 0, &[]).await;
    assert_eq!(ended.out, "2\n");
    let ended = check("anything", &[&given[..], &["--json"]].concat(), 0, &[]).await;
    let report = ended.json();
    assert!(report["code"].as_str().unwrap().starts_with("# H\n"), "{report}");
    assert_eq!(report["tools_were_given"], true);
    assert_eq!(report["selected"], serde_json::json!({"calculator": ["add"]}));
    check(
        "anything",
        &[&given[..], &["--verbose"]].concat(),
        0,
        &["2. Select: 1 tool given by the caller, none selected"],
    )
    .await;
}

/// C185.
#[tokio::test]
async fn a_thousand_tools_are_searched_within_two_seconds() {
    let codeyard = Codeyard::new().unwrap();
    let directory = codeyard.work_directory().join("many");
    let things = [
        "invoice", "ticket", "parcel", "lamp", "recipe", "song", "meeting", "sensor", "route", "photo",
    ];
    for server in 0..100 {
        for thing in things {
            let code = format!(
                "def {thing}_{server}(count: int) -> int:\n    \"\"\"Archive the {thing} of branch {server}.\"\"\"\n    return count * {server}\n"
            );
            write_tool(
                &directory,
                &format!("branch{server}"),
                &format!("{thing}_{server}"),
                &code,
            );
        }
    }
    let begun = Instant::now();
    let ended = task_on(
        &codeyard,
        &directory,
        "Archive 5 parcels of branch42",
        &["--json"],
    )
    .await;
    let took = begun.elapsed();
    let report = ended.json();
    assert_eq!(ended.code, 0, "{report}");
    let selected: Vec<&str> = report["selected"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|tools| tools.as_array().unwrap())
        .filter_map(|tool| tool.as_str())
        .collect();
    assert!(
        selected.len() <= 5 && selected.contains(&"parcel_42"),
        "{selected:?}"
    );
    assert!(report["output"].as_str().unwrap().contains("210"), "{report}");
    let code = report["code"].as_str().unwrap();
    let imports: Vec<&str> = code
        .lines()
        .filter(|line| line.starts_with("from servers."))
        .collect();
    assert_eq!(imports.len(), 1, "{imports:?}");
    // Includes reading a thousand files and starting a sandbox, in an unoptimised build.
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// Tools of MCP servers work like other tools, and the records name the task of a run.
#[tokio::test]
async fn tools_of_servers_are_called_too() {
    let codeyard = Codeyard::with_stub().unwrap();
    let ended = task_on(
        &codeyard,
        &samples(),
        "Echo \"hi there\" and calculate 2 + 2",
        &["--json"],
    )
    .await;
    let report = ended.json();
    assert_eq!(ended.code, 0, "{report}");
    let output = report["output"].as_str().unwrap();
    assert!(
        output.contains("stub.echo: hi there") && output.contains("2 + 2 = 4"),
        "{output}"
    );
    let shown = run(
        &codeyard,
        &["runs", report["run_id"].as_str().unwrap(), "--json"],
        "",
    )
    .await;
    let record = shown.json();
    assert_eq!(record["front"], "task", "{record}");
    assert!(
        record["events"]
            .to_string()
            .contains("Echo \\\"hi there\\\" and calculate 2 + 2"),
        "{record}"
    );
}

#[tokio::test]
async fn missing_parts_of_a_task_are_reported_and_nothing_is_run() {
    check(
        "Get the weather",
        &[],
        1,
        &["weather.get_weather needs 'location': say for example location='San Francisco, CA'"],
    )
    .await;
    check(
        "Read file and calculate sum",
        &["--verbose"],
        1,
        &["filesystem.read_file needs 'path'", "3. Generate: nothing"],
    )
    .await;
    check(
        "Buche einen Flug und ein Hotel",
        &[],
        1,
        &["it does not begin with a known verb, and codeyard reads only English"],
    )
    .await;
    check(
        "Schreibe hallo nach x.txt",
        &[],
        1,
        &["it does not begin with a known verb, and codeyard reads only English"],
    )
    .await;
    check(
        "Read notes.txt and write the first line to notes.txt",
        &[],
        1,
        &["filesystem.write_file needs 'content'"],
    )
    .await;
    check("", &[], 2, &["the task is empty"]).await;
    check("?!", &[], 2, &["there is no word in the task \"?!\""]).await;
    check(
        &"word ".repeat(2048),
        &[],
        2,
        &["the task has 10240 bytes, and codeyard reads at most 4096"],
    )
    .await;
    check("'\"\\ \n\n \\' \"\"\"", &[], 2, &["there is no word"]).await;
    check(
        "x",
        &["--required-tools", "[1]"],
        2,
        &["--required-tools cannot be read"],
    )
    .await;
    check("x", &["--required-tools", "{}"], 2, &["names no tool"]).await;
    check(
        "x",
        &["--required-tools", r#"{"calculator": ["minus"]}"#],
        2,
        &["there is no tool 'calculator.minus'"],
    )
    .await;
    check(
        "x",
        &["--task-specific-calls", r#"{"a": 1}"#],
        2,
        &["the program of `a` is not a string"],
    )
    .await;
    check(
        "x",
        &["--task-specific-calls", "@nowhere.json"],
        2,
        &["nowhere.json"],
    )
    .await;
    check("x", &["--threshold", "2"], 2, &["write a number from 0 to 1"]).await;
    let codeyard = Codeyard::new().unwrap();
    let args = ["task", "-", "--tools", samples().to_str().unwrap()].map(str::to_owned);
    let ended = run(&codeyard, &args.each_ref().map(String::as_str), "Read a\0b").await;
    assert!(
        ended.code == 2 && ended.err.contains("the control character U+0000 at byte 6"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn a_task_ends_with_its_run_s_status() {
    check(
        "Calculate 1 / 0 and get the weather in Oslo",
        &[],
        1,
        &["step 1 failed", "division by zero", "weather.get_weather: {"],
    )
    .await;
    let endless = r#"{"calculator": "while True: pass"}"#;
    let ended = check(
        "Calculate 5 + 3",
        &["--task-specific-calls", endless, "--timeout", "500ms", "--json"],
        124,
        &[],
    )
    .await;
    assert_eq!(ended.json()["result"], "timeout");
    let wrong = r#"{"calculator": "print(calculate(expresion='1'))"}"#;
    let ended = check(
        "Calculate 5 + 3",
        &["--task-specific-calls", wrong, "--json"],
        3,
        &[],
    )
    .await;
    assert_eq!(ended.json()["result"], "blocked");
    let ended = check(
        "Calculate 5 + 3",
        &["--plan"],
        0,
        &["results[1] = calculate(expression='5 + 3')"],
    )
    .await;
    assert!(!ended.out.contains("5 + 3 = 8"), "{ended:?}");
}
