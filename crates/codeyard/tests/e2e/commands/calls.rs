//! `codeyard call`: forms of arguments, and errors of wrong ones.

use serde_json::{Value, json};
use test_support::{Codeyard, ServerDefinition};

use super::run;

/// The stub and the public server for the time, whose tools take numbers, texts and a list.
fn codeyard() -> Codeyard {
    let codeyard = Codeyard::with_stub().unwrap();
    let time = ServerDefinition::replay("time");
    codeyard.server("time", &time)
}

/// Calls a tool; returns the output, or the error and the exit code.
async fn check(codeyard: &Codeyard, args: &[&str], expected: Result<&str, (i32, &str)>) {
    let ended = run(codeyard, &[&["call"], args].concat(), "").await;
    match expected {
        Ok(out) => assert_eq!(
            (ended.out.trim_end(), ended.code),
            (out, 0),
            "{args:?}: {ended:?}"
        ),
        Err((code, part)) => {
            assert_eq!(
                (ended.out.as_str(), ended.code),
                ("", code),
                "{args:?}: {ended:?}"
            );
            assert!(
                ended.err.starts_with("error: ") && ended.err.contains(part),
                "{args:?}: {ended:?}"
            );
        }
    }
}

#[tokio::test]
async fn arguments_are_pairs_or_an_object() {
    let codeyard = codeyard();
    let three = "{\n  \"sum\": 3\n}";
    check(&codeyard, &["stub.add", "a=1", "b=2"], Ok(three)).await;
    check(&codeyard, &["stub.add", "a=1e0", "b=2.0"], Ok(three)).await;
    check(
        &codeyard,
        &["stub.add", "--json", "{\"a\": 1, \"b\": 2}"],
        Ok(three),
    )
    .await;
    check(&codeyard, &["stub.add", "{\"a\": 1}", "b=2"], Ok(three)).await;
    check(&codeyard, &["stub.echo", "message=17"], Ok("17")).await;
    check(&codeyard, &["stub.echo", "message={\"a\": 1}"], Ok("{\"a\": 1}")).await;
    check(&codeyard, &["stub.echo", "message=a=b c"], Ok("a=b c")).await;
    for raw in ["--raw", "--json"] {
        let ended = run(&codeyard, &["call", "stub.add", "a=1", "b=2", raw], "").await;
        assert_eq!(ended.json()["structuredContent"], json!({"sum": 3}), "{ended:?}");
    }
}

#[tokio::test]
async fn an_error_names_the_argument_and_the_nearest_name() {
    let codeyard = codeyard();
    check(
        &codeyard,
        &["stub.add", "a=1", "b=two"],
        Err((2, "argument 'b' must be float, not str 'two'")),
    )
    .await;
    check(
        &codeyard,
        &["stub.add", "a=1", "bb=2"],
        Err((2, "missing required argument 'b': float ('bb' is no")),
    )
    .await;
    check(
        &codeyard,
        &["stub.add", "a=1", "b=2", "a=3"],
        Err((2, "argument 'a' is given twice")),
    )
    .await;
    check(
        &codeyard,
        &["stub.echo", "hello"],
        Err((2, "did you mean message=hello?")),
    )
    .await;
    check(&codeyard, &["stub.ad", "a=1"], Err((2, "did you mean 'add'?"))).await;
    check(&codeyard, &["stbu.add", "a=1"], Err((2, "did you mean 'stub'?"))).await;
    check(
        &codeyard,
        &["stub.add", "--json", "a=1"],
        Err((2, "expected a JSON object")),
    )
    .await;
    check(&codeyard, &["stub.fail", "message=nope"], Err((1, "error: nope"))).await;
}

#[tokio::test]
async fn every_attempt_leaves_its_record() {
    let codeyard = codeyard();
    run(&codeyard, &["call", "stub.add", "a=1", "b=2"], "").await;
    run(&codeyard, &["call", "stub.add", "a=1"], "").await;
    run(&codeyard, &["call", "stub.nope"], "").await;
    let listed = run(&codeyard, &["runs", "--json"], "").await;
    let runs: Vec<Value> = listed
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let seen: Vec<(&Value, &Value)> = runs.iter().map(|run| (&run["status"], &run["tools"])).collect();
    let add = json!([{"tool": "stub.add", "calls": 1}]);
    let (failed, completed) = (json!("failed"), json!("completed"));
    assert_eq!(
        seen,
        [(&failed, &json!([])), (&failed, &add), (&completed, &add)],
        "{listed:?}"
    );
}
