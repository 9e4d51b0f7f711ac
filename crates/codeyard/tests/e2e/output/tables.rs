//! Tables: exact in every cell, and shorter than JSON for data of real servers.

use std::path::PathBuf;

use serde_json::json;
use test_support::{CodeClient, Codeyard, ServerDefinition, codeyard_binary, managed_data};

#[track_caller]
fn read(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/e2e/output/real/{name}.py"));
    std::fs::read_to_string(path).unwrap()
}

#[tokio::test]
async fn records_are_shown_as_rows_and_kept_as_records() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let code = "return {'total': 3, 'page': {'rows': [{'id': 1, 'name': 'a, b', 'at': {'city': 'Oslo'}, 'note': None}, \
                {'id': 2, 'name': 'two\\nlines', 'at': {'city': 'Rome'}}, {'id': 3, 'name': '7', 'at': {'city': ''}, 'note': 0.1}]}}";
    let ran = client.run(code).await;
    assert_eq!(
        ran.shown(),
        "total: 3\npage.rows[3]:\nid,name,at.city,note\n1,\"a, b\",Oslo,null\n2,\"two\\nlines\",Rome,\n3,\"7\",\"\",0.1"
    );
    assert_eq!(
        ran.result()["page"]["rows"][1],
        json!({"id": 2, "name": "two\nlines", "at": {"city": "Rome"}})
    );
}

#[tokio::test]
async fn frames_of_pandas_are_tables() {
    if managed_data().is_none() {
        return super::skip("the test run makes the environment with pandas, `cargo xtask test`");
    }
    let codeyard = Codeyard::new().unwrap().managed_environment().unwrap();
    let mut client = CodeClient::of(codeyard).await;
    let code = "import pandas as pd\nframe = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 3], 'x': [0.5, None, 2.0]})\nframe";
    let ran = client.run(code).await;
    assert_eq!(
        ran.shown(),
        "[3]:\ncity,n,x\nOslo,1,0.5\nRome,2,null\nOslo,3,2.0",
        "{ran:?}"
    );
    let ran = client.run("frame.groupby('city').n.agg(['sum', 'max'])").await;
    assert_eq!(ran.shown(), "[2]:\ncity,sum,max\nOslo,4,3\nRome,2,2", "{ran:?}");
    let ran = client.run("frame.city.value_counts().to_frame('city')").await;
    assert_eq!(ran.shown(), "[2]:\ncity_index,city\nOslo,2\nRome,1", "{ran:?}");

    // A large frame stays unchanged.
    let code = "large = pd.DataFrame({'n': range(50_000), 'square': [n * n for n in range(50_000)]})\nlarge";
    let ran = client.run(code).await;
    let handle = &ran.fields()["handle"];
    assert_eq!(handle["size"], "50,000 rows x 2 columns", "{ran:?}");
    assert_eq!(handle["preview"][1], json!({"n": 1, "square": 1}));
    assert!(
        ran.shown().contains("[5]:\nn,square\n0,0\n1,1\n2,4\n3,9\n4,16\n"),
        "{ran:?}"
    );
    let code = format!(
        "kept = runtime.result({})\nreturn [kept is large, int(kept.square.sum())]",
        handle["name"]
    );
    assert_eq!(
        client.run(&code).await.result(),
        &json!([true, 41_665_416_675_000_i64])
    );
    let series = client.run("large.n").await;
    assert_eq!(
        series.fields()["handle"]["preview"],
        json!([0, 1, 2, 3, 4]),
        "{series:?}"
    );
    let array = client.run("import numpy as np\nnp.zeros((2000, 500))").await;
    assert_eq!(
        array.fields()["handle"]["size"],
        "2,000 x 500 values",
        "{array:?}"
    );
    assert!(array.fields().to_string().len() < 24_000);
}

/// Tokens of the ten results of `real/`, as JSON and as shown. `--no-capture` prints the table of
/// docs/contributing/programs.md.
#[tokio::test]
async fn tables_of_real_servers_take_fewer_tokens_than_json() {
    let crm = ServerDefinition::new(codeyard_binary().to_string_lossy(), &["demo-server", "crm"]);
    let codeyard = Codeyard::new()
        .unwrap()
        .real_servers()
        .unwrap()
        .server("crm", &crm);
    let mut client = CodeClient::of(codeyard).await;
    let tokenizer = accounting::Tokenizer::load().unwrap();
    let tokens = |text: &str| tokenizer.text(text);
    let (mut as_json, mut as_text, mut as_toon, mut bytes) = (0, 0, 0, 0);
    for name in [
        "customers",
        "contacts",
        "orders",
        "totals",
        "graph",
        "files",
        "times",
        "sheet",
        "notes",
        "squares",
    ] {
        let ran = client.execute(json!({"code": read(name), "check": "off"})).await;
        assert_eq!(ran.status(), "completed", "{name}: {ran:?}");
        let json = ran.result().to_string();
        let toon = toon_format::encode_default(ran.result()).unwrap();
        let (j, t, n) = (tokens(&json), tokens(ran.shown()), tokens(&toon));
        println!("| {name} | {} | {j} | {n} | {t} | {}% |", json.len(), 100 * t / j);
        assert!(t < j, "{name}: {t} tokens, {j} as JSON\n{}", ran.shown());
        as_json += j;
        as_text += t;
        as_toon += n;
        bytes += json.len();
    }
    println!(
        "| all | {bytes} | {as_json} | {as_toon} | {as_text} | {}% |",
        100 * as_text / as_json
    );
    assert!(as_text * 10 < as_json * 7, "{as_text} tokens, {as_json} as JSON");
}
