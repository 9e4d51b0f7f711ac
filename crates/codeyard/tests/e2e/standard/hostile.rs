//! Hostile servers behind the surface: each fails only its own calls, and costs no memory.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Codeyard, Era, McpClient, ServerDefinition, peak_memory};

use super::{ERAS, names};

/// Most memory of a hostile server: a few messages of the longest kind, and the stored part of a list.
const MAX_KIB: u64 = 256 * 1024;

/// A client that has called the good server, with a bad one of this mode.
async fn beside(mode: &str, era: Era) -> (Codeyard, McpClient) {
    let mut bad = ServerDefinition::hostile(mode);
    if matches!(mode, "wrong-ids" | "drip") {
        bad = bad.timeout(2_000);
    }
    with(&bad, era).await
}

async fn with(bad: &ServerDefinition, era: Era) -> (Codeyard, McpClient) {
    let good = ServerDefinition::stub_with_extras();
    let codeyard = Codeyard::new().unwrap().server("bad", bad).server("good", &good);
    let mut client = codeyard.standard_unopened().unwrap();
    client.declare(json!({"elicitation": {}}));
    client.open(era).await.unwrap();
    still_good(&mut client).await;
    (codeyard, client)
}

/// The good server answers, and the process has not grown.
async fn still_good(client: &mut McpClient) {
    let params = json!({"name": "good_echo", "arguments": {"message": "still here"}});
    let answer = client.request("tools/call", params).await.unwrap();
    let text = &answer["result"]["content"][0]["text"];
    assert_eq!(text, "still here", "{answer} {}", client.stderr());
    let kib = peak_memory(client.pid().unwrap()).unwrap();
    assert!(kib < MAX_KIB, "{kib} KiB");
}

/// A call of the bad server ends with this error, or with this text.
async fn check(mode: &str, expected: &str) {
    for era in ERAS {
        check_in(era, mode, expected).await;
    }
}

async fn check_in(era: Era, mode: &str, expected: &str) {
    let (_codeyard, mut client) = beside(mode, era).await;
    let params = json!({"name": "bad_echo", "arguments": {"message": "b"}});
    let bad = client.start("tools/call", params).await.unwrap();
    still_good(&mut client).await;
    let answer = client.answer(&bad).await.unwrap();
    let told = match answer.get("error") {
        Some(error) => error["message"].as_str().unwrap().to_owned(),
        None => answer["result"]["content"].to_string(),
    };
    assert!(told.contains(expected), "{mode} {era:?}: {told}");
    still_good(&mut client).await;
}

#[tokio::test]
async fn answers_of_fifty_megabytes() {
    check_in(Era::Legacy, "huge", "52428873 bytes, more than the 16777216").await;
    check_in(
        Era::Modern,
        "endless-line",
        "52428800 bytes, more than the 16777216",
    )
    .await;
}

#[tokio::test]
async fn wrong_answers() {
    for (mode, expected) in [
        ("wrong-ids", "request 1000000, which was never sent"),
        ("duplicate", "b"),
        ("dies", "panic: out of luck"),
        ("half-an-answer", "the call of 'echo'"),
        ("not-text", "the call of 'echo'"),
        ("garbage", "something other than a result"),
        ("drip", "did not answer the call of 'echo' within"),
    ] {
        check(mode, expected).await;
    }
}

#[tokio::test]
async fn lists_of_any_length_and_depth() {
    for era in ERAS {
        let (_codeyard, mut client) = beside("crowd", era).await;
        let (mut listed, mut params) = (0, json!({}));
        loop {
            let page = client.result("tools/list", params).await.unwrap();
            listed += page["tools"].as_array().unwrap().len();
            match page.get("nextCursor") {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => break,
            }
        }
        assert!((10_000..11_000).contains(&listed), "{listed} {}", client.stderr());
        still_good(&mut client).await;
        let (_codeyard, mut client) = beside("deep", era).await;
        let tools = client.tools().await.unwrap();
        let bad = names(&tools).into_iter().filter(|name| name.starts_with("bad_"));
        assert_eq!(bad.collect::<Vec<_>>(), ["bad_echo"]);
        still_good(&mut client).await;
    }
}

#[tokio::test]
async fn an_endless_list_is_cut_and_the_others_stay() {
    let (_codeyard, mut client) = beside("endless-pages", Era::Legacy).await;
    let (mut uris, mut params) = (Vec::new(), json!({}));
    loop {
        let page = client.result("resources/list", params).await.unwrap();
        let resources = page["resources"].as_array().unwrap();
        uris.extend(
            resources
                .iter()
                .map(|each| each["uri"].as_str().unwrap().to_owned()),
        );
        match page.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    // On a busy machine, the time limit comes before the byte limit.
    let bad = uris.iter().filter(|uri| uri.starts_with("endless://"));
    assert!((1..=31).contains(&bad.count()), "{uris:?}");
    assert!(uris.contains(&"stub://note".to_owned()));
    let told = client.stderr();
    let is_told = told.contains("its list is too long; only the first 31 are used");
    assert!(is_told || told.contains("left out of the list"), "{told}");
    still_good(&mut client).await;
}

#[tokio::test]
async fn a_schema_with_a_remote_reference_is_relayed_and_never_fetched() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/schema.json", listener.local_addr().unwrap());
    let bad = ServerDefinition::hostile("remote-schema").env("ELSEWHERE", &address);
    for era in ERAS {
        let (_codeyard, mut client) = with(&bad, era).await;
        let tools = client.tools().await.unwrap();
        assert!(names(&tools).contains(&"bad_elsewhere"));
        assert!(json!(tools).to_string().contains(&address));
        client
            .call_tool("bad_elsewhere", json!({"message": 1}))
            .await
            .unwrap();
    }
    let nobody = listener.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn endless_progress_reaches_the_client_until_it_cancels() {
    for era in ERAS {
        let (_codeyard, mut client) = beside("endless-progress", era).await;
        let params = json!({
            "name": "bad_echo", "arguments": {"message": "b"}, "_meta": {"progressToken": "flood"},
        });
        let id = client.start("tools/call", params).await.unwrap();
        let progress = client.notification("notifications/progress").await.unwrap();
        assert_eq!(progress["progressToken"], "flood");
        still_good(&mut client).await;
        client.cancel(&id).await.unwrap();
        still_good(&mut client).await;
    }
}

#[tokio::test]
async fn a_storm_of_questions_is_limited() {
    let patience = Duration::from_secs(30);
    for era in ERAS {
        let (_codeyard, mut client) = beside("storm", era).await;
        let params = json!({"name": "bad_echo", "arguments": {"message": "b"}});
        let id = client.start("tools/call", params).await.unwrap();
        let answer = client.answer(&id).await.unwrap();
        still_good(&mut client).await;
        if era == Era::Modern {
            let asked = answer["result"]["inputRequests"]
                .as_object()
                .map(serde_json::Map::len);
            assert!(asked.unwrap_or_default() <= 16, "{answer}");
            continue;
        }
        assert_eq!(answer["result"]["content"][0]["text"], "b", "{answer}");
        // The number of concurrent questions to the client is limited.
        let is_question = |message: &Value| message["method"] == "elicitation/create";
        let mut asked = 0;
        while asked < 16 && client.wait_for("a question", patience, is_question).await.is_ok() {
            asked += 1;
        }
        still_good(&mut client).await;
    }
}
