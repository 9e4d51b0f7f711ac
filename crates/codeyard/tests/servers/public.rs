//! Nine public servers of both eras, as installed by the test run, in one program.

use serde_json::json;
use test_support::{CodeClient, Codeyard};

/// Calls one tool of each server, all at once, and returns what is known of each answer beforehand.
const PROGRAM: &str = r#"
import asyncio

directories, = [line for line in (await tools.filesystem.list_allowed_directories()).content.splitlines() if "/" in line]
calls = {
    "everything": tools.everything.get_sum(a=2, b=40),
    "filesystem": tools.filesystem.get_file_info(path=directories),
    "memory": tools.memory.create_entities(entities=[{"name": "Ana", "entityType": "person", "observations": ["likes tea"]}]),
    "thinking": tools.thinking.sequentialthinking(thought="t", nextThoughtNeeded=False, thoughtNumber=1, totalThoughts=1),
    "git": tools.git.git_log(repo_path=directories.replace("/files", "/repo")),
    "time": tools.time.convert_time(source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"),
    "excel": tools.excel.list_workbooks(directory=directories),
    "sqlite": tools.sqlite.read_query(query="SELECT 6 * 7 AS answer"),
    "calculator": tools.calculator.calculate(expression="6*7"),
}
answers = dict(zip(calls, await asyncio.gather(*calls.values())))
return {name: str(answer) for name, answer in answers.items()}
"#;

#[tokio::test]
async fn one_program_calls_a_tool_of_each() {
    let Some(codeyard) = Codeyard::new().unwrap().real_servers() else {
        // `cargo xtask test` installs them; elsewhere the other tests have to do.
        return;
    };
    let mut client = CodeClient::of(codeyard).await;
    // The memory outlives this test where nobody gave it a fresh one.
    let name = format!("Ana-{}", std::process::id());
    let ran = client
        .execute(json!({"code": PROGRAM.replace("Ana", &name), "timeout_ms": 120_000}))
        .await;
    assert_eq!(ran.status(), "completed", "{}", ran.shown());
    let answers = ran.result().as_object().unwrap();
    for (server, expected) in [
        ("everything", "42"),
        ("filesystem", "isDirectory: true"),
        ("memory", &name),
        ("thinking", "thoughtHistoryLength"),
        ("git", "one"),
        ("time", "21:00"),
        ("excel", "{"),
        ("sqlite", "42"),
        ("calculator", "42"),
    ] {
        let answer = answers[server].as_str().unwrap();
        assert!(answer.contains(expected), "{server}: {answer}");
    }
    assert_eq!(answers.len(), 9);
    // All of them are still up for the next program, and are found.
    let found = client
        .search(json!({"query": "convert time between timezones", "limit": 1}))
        .await;
    assert_eq!(
        found["structuredContent"]["tools"][0]["tool"], "convert_time",
        "{found}"
    );
    let ran = client
        .run(&format!(
            "return (await tools.memory.search_nodes(query='{name}')).entities[0].name"
        ))
        .await;
    assert_eq!(ran.result(), name.as_str(), "{ran:?}");
}
