//! Results too large for an answer stay in their session, and the model gets a handle.

use serde_json::json;
use test_support::{CodeClient, Codeyard};

const MANY: &str = "[{'id': n, 'name': f'name {n}'} for n in range(3000)]";

#[tokio::test]
async fn a_large_result_stays_and_is_described() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let ran = client.run(MANY).await;
    assert_eq!(
        ran.fields()["handle"],
        json!({
            "name": "r1",
            "type": "list[{id: int, name: str}]",
            "size": "3,000 items, 90,781 bytes of JSON",
            "preview": (0..5).map(|n| json!({"id": n, "name": format!("name {n}")})).collect::<Vec<_>>(),
        }),
        "{ran:?}"
    );
    assert!(ran.fields().get("result").is_none(), "{ran:?}");
    insta::assert_snapshot!(ran.shown(), @r#"
    r1: list[{id: int, name: str}], 3,000 items, 90,781 bytes of JSON: too large to show, it stays in session default. It begins:
    [5]:
    id,name
    0,name 0
    1,name 1
    2,name 2
    3,name 3
    4,name 4
    Go on with it in the next program of this session: runtime.result("r1")[:20]
    "#);
    let ran = client
        .run("return [runtime.result('r1')[2999], len(runtime.result()), runtime.results()]")
        .await;
    assert_eq!(
        ran.result(),
        &json!([{"id": 2999, "name": "name 2999"}, 3000, [{"name": "r1", "type": "list", "size": "3,000 items, 90,781 bytes of JSON"}]])
    );
    // Another session has no part of it.
    let ran = client.run_in("other", "runtime.result('r1')").await;
    assert!(
        ran.error()
            .ends_with("LookupError: there is no result 'r1'; none is kept now"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn every_kind_of_value_is_kept_unchanged() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    for (code, kind, size, then, expected) in [
        ("'ab' * 50_000", "str", "100,000 characters", "[:3]", json!("aba")),
        (
            "{n: str(n) for n in range(5000)}",
            "",
            "5,000 keys",
            "[4999]",
            json!("4999"),
        ),
        (
            "{'rows': [0] * 20_000, 'n': 1}",
            "{n: int, rows: list[int]}",
            "2 keys (rows: 20,000 items)",
            "['n']",
            json!(1),
        ),
        (
            "bytes(40_000)",
            "bytes",
            "40,000 bytes",
            "[:2].hex()",
            json!("0000"),
        ),
        (
            "(n for n in range(40_000))",
            "list[int]",
            "40,000 items",
            "[39_999]",
            json!(39_999),
        ),
        (
            "{'given': iter(range(40_000))}",
            "{given: list[int]}",
            "1 key (given: 40,000 items)",
            "['given'][1]",
            json!(1),
        ),
        (
            "set(range(40_000))",
            "list[int]",
            "40,000 items",
            ".__len__()",
            json!(40_000),
        ),
        (
            "x = ['y' * 100_000_000]\nx",
            "list[str]",
            "1 item",
            "[0][:1]",
            json!("y"),
        ),
    ] {
        let session = json!({"code": code, "session": "new"});
        let ran = client.execute(session).await;
        let handle = &ran.fields()["handle"];
        assert!(
            handle["size"].as_str().unwrap().starts_with(size),
            "{code}: {ran:?}"
        );
        assert!(
            kind.is_empty() || handle["type"] == kind || code.starts_with("set"),
            "{code}: {ran:?}"
        );
        assert!(ran.0.to_string().len() < 16_000, "{code}");
        let next = client
            .run_in(ran.session(), &format!("runtime.result('r1'){then}"))
            .await;
        assert_eq!(next.result(), &expected, "{code}: {next:?}");
    }
}

#[tokio::test]
async fn old_results_are_evicted_with_a_message() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    for _ in 0..17 {
        client.run("'z' * 30_000").await;
    }
    let ran = client.run("runtime.result('r1')").await;
    assert!(
        ran.error()
            .contains("result 'r1' is lost: newer ones have taken its place: 16 are kept"),
        "{ran:?}"
    );
    assert_eq!(client.run("len(runtime.results())").await.result(), 16);
    client.run("'z' * 140_000_000").await;
    assert_eq!(client.run("len(runtime.results())").await.result(), 1);
    let ran = client.run("runtime.result('r17')").await;
    assert!(ran.error().contains("of 128 MiB in all"), "{ran:?}");
    // A lost session loses its results, too.
    client.run("import os; os._exit(1)").await;
    let ran = client.run("runtime.result('r2')").await;
    assert!(
        ran.error().ends_with("there is no result 'r2'; none is kept now"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn kept_results_take_a_share_of_a_small_memory() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let small = json!({"code": "[n for n in range(20_000)]", "limits": {"memory": "64 MiB"}});
    client.execute(small).await;
    client.run("'x' * 10_000_000").await;
    assert_eq!(client.run("len(runtime.results())").await.result(), 2);
    client.run("'y' * 10_000_000").await;
    let ran = client.run("runtime.result('r1')").await;
    assert!(ran.error().contains("of 16 MiB in all"), "{ran:?}");
}

#[tokio::test]
async fn a_text_repeated_a_thousand_times_is_not_written() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let code = "x = ['y' * 1_000_000] * 1000\nx";
    let ran = client
        .execute(json!({"code": code, "limits": {"memory": "64 MiB"}}))
        .await;
    assert_eq!(ran.fields()["handle"]["size"], "1,000 items", "{ran:?}");
    let peak =
        "import resource\nruntime.result('r1') is x and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss";
    let peak = client.run(peak).await.result().as_u64().unwrap();
    assert!(peak < 128 * 1024, "{peak} KiB");

    // Also if `max_result = "off"` sends as much as possible.
    let settings = "[output]\nmax_result = \"off\"";
    let mut client = CodeClient::of(Codeyard::new().unwrap().settings(settings)).await;
    for code in [code, "'z' * 30_000_000"] {
        let ran = client.run(code).await;
        assert!(ran.fields()["handle"].is_object(), "{ran:?}");
    }
}

#[tokio::test]
async fn an_endless_iterator_is_marked_as_cut() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let endless = "import itertools\nitertools.count()";
    let note = "the first 100,000 items; the count gives more, and what it gave is used up";
    let ran = client.run(endless).await;
    assert!(ran.shown().contains(note), "{ran:?}");
    assert_eq!(
        client.run("runtime.result()['items'][-1]").await.result(),
        &json!(99_999)
    );
    let ran = client
        .execute(json!({"code": endless, "max_result": 1_000_000}))
        .await;
    assert_eq!(ran.result()["note"], note);
}

#[tokio::test]
async fn the_limit_can_be_set_and_omitted() {
    let long = "'x' * 40_000";
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let ran = client.execute(json!({"code": long, "max_result": 50_000})).await;
    assert_eq!(ran.shown().len(), 40_000);
    let ran = client
        .execute(json!({"code": "'x' * 2000", "max_result": 1000}))
        .await;
    assert!(ran.fields()["handle"].is_object(), "{ran:?}");
    // The limit applies to this call only.
    assert_eq!(client.run("'x' * 2000").await.shown().len(), 2000);

    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[output]\nmax_result = \"off\"");
    let mut client = CodeClient::of(codeyard).await;
    assert_eq!(client.run(long).await.shown().len(), 40_000);
    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[output]\nmax_result = \"2 KiB\"");
    let mut client = CodeClient::of(codeyard).await;
    assert!(client.run("'x' * 3000").await.fields()["handle"].is_object());
}

#[tokio::test]
async fn handles_work_without_namespaces() {
    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[sandbox]\nbackend = \"landlock\"");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run(MANY).await;
    if !ran.fields()["handle"].is_object() {
        // A kernel without the required Landlock lacks this backend, with a message.
        let why = ran.0.to_string();
        assert!(why.contains("needs Landlock version"), "{why}");
        return super::skip("this kernel has no Landlock for the backend");
    }
    assert_eq!(ran.fields()["handle"]["name"], "r1", "{ran:?}");
    assert_eq!(client.run("len(runtime.result('r1'))").await.result(), 3000);
}
