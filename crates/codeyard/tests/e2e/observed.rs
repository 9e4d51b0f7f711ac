//! Programs over real servers without output schemas: wrong fields found before the run, with and without learned
//! types.

use std::fmt::Write as _;

use serde_json::json;
use test_support::{CodeClient, Codeyard};

const CALLS: &str = include_str!("../../../test-support/programs/observed/calls.jsonl");
const RIGHT: &str = include_str!("../../../test-support/programs/observed/right.txt");
const WRONG: &str = include_str!("../../../test-support/programs/observed/wrong.txt");

/// Makes the calls of the file in order.
const OBSERVE: &str = r#"
import json
from mcp import runtime
calls = [json.loads(line) for line in open("/workspace/calls.jsonl")]
for call in calls:
    await runtime.call_tool(call["server"], call["tool"], call["arguments"])
return len(calls)
"#;

/// A labelled program.
struct Program<'a> {
    name: &'a str,
    code: String,
}

fn programs(file: &str) -> Vec<Program<'_>> {
    let parts = file.trim_start_matches("=== ").split("\n=== ");
    let programs = parts.map(|part| {
        let (name, rest) = part.split_once("\n--- ").unwrap();
        let (_label, code) = rest.split_once('\n').unwrap();
        Program {
            name,
            code: code.to_owned(),
        }
    });
    programs.collect()
}

/// The result of each program: `refused`, `warned` or its run's status.
async fn fates(client: &mut CodeClient, file: &str) -> Vec<String> {
    let data = client.codeyard.upstreams_data().display().to_string();
    let mut fates = Vec::new();
    for program in programs(file) {
        let code = program.code.replace("@DATA@", &data);
        let ran = client
            .execute(json!({"code": code, "session": program.name}))
            .await;
        let is_warned = ran.fields().to_string().contains("observed in");
        let fate = match ran.status() {
            "refused" => "refused".to_owned(),
            status if is_warned => format!("warned, then {status}"),
            status => status.to_owned(),
        };
        fates.push(fate);
    }
    fates
}

fn count(fates: &[String], begin: &str) -> usize {
    fates.iter().filter(|fate| fate.starts_with(begin)).count()
}

/// Real servers, with the calls of the file for [`observe`].
pub async fn with_servers() -> CodeClient {
    let codeyard = Codeyard::new()
        .unwrap()
        .real_servers()
        .unwrap()
        .older_servers()
        .unwrap();
    let data = codeyard.upstreams_data().display().to_string();
    let mut client = CodeClient::of(codeyard).await;
    let calls = serde_json::to_string(&CALLS.replace("@DATA@", &data)).unwrap();
    client
        .run(&format!("open('/workspace/calls.jsonl', 'w').write({calls})"))
        .await;
    client
}

/// Makes the calls.
pub async fn observe(client: &mut CodeClient) {
    let observed = client.run(OBSERVE).await;
    assert_eq!(observed.result(), &json!(CALLS.lines().count()), "{observed:?}");
}

#[tokio::test]
async fn wrong_fields_of_observed_results_are_found_before_the_run() {
    let mut client = with_servers().await;
    let without = fates(&mut client, WRONG).await;
    observe(&mut client).await;
    let right = fates(&mut client, RIGHT).await;
    let with = fates(&mut client, WRONG).await;
    let mut table = String::new();
    for (name, fates) in [
        ("wrong, before anything was observed", &without),
        ("wrong", &with),
        ("right", &right),
    ] {
        let (refused, warned) = (count(fates, "refused"), count(fates, "warned"));
        writeln!(
            table,
            "{name}: {refused} of {} refused, {warned} warned",
            fates.len()
        )
        .unwrap();
    }
    // The failing runs also taught something, but never enough for a refusal.
    assert_eq!((count(&right, "completed"), right.len()), (30, 30), "{table}");
    assert_eq!(count(&without, "refused"), 0, "{table}");
    // Tools called repeatedly with the same arguments lead only to warnings.
    let (refused, warned) = (count(&with, "refused"), count(&with, "warned"));
    assert!(refused >= 15 && refused + warned >= 23, "{table}");
}
