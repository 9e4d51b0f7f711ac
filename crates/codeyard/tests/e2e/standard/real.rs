//! Nine public servers behind one connection, and one of them alone.

use serde_json::json;
use test_support::{Codeyard, Era};

use super::{ERAS, names, open};

#[tokio::test]
async fn nine_public_servers_are_relayed() {
    for era in ERAS {
        let codeyard = Codeyard::new().unwrap().real_servers().unwrap();
        let mut client = open(&codeyard, era).await;
        let tools = client.tools().await.unwrap();
        let names = names(&tools);
        for name in [
            "everything_echo",
            "memory_read_graph",
            "filesystem_list_directory",
        ] {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
        assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
        let answer = client
            .call_tool("everything_echo", json!({"message": "hello"}))
            .await
            .unwrap();
        assert_eq!(answer["content"][0]["text"], "Echo: hello", "{answer}");
        let graph = client.call_tool("memory_read_graph", json!({})).await.unwrap();
        assert!(graph["structuredContent"]["entities"].is_array(), "{graph}");
        let allowed = client
            .call_tool("filesystem_list_allowed_directories", json!({}))
            .await
            .unwrap();
        assert_eq!(allowed["content"][0]["type"], "text", "{allowed}");
        let listed = client.result("resources/list", json!({})).await.unwrap();
        let uri = listed["resources"][0]["uri"].clone();
        let read = client
            .result("resources/read", json!({"uri": uri}))
            .await
            .unwrap();
        assert_eq!(read["contents"][0]["uri"], uri, "{read}");
        let prompts = client.result("prompts/list", json!({})).await.unwrap();
        assert!(!prompts["prompts"].as_array().unwrap().is_empty(), "{prompts}");
        if era == Era::Modern {
            assert_eq!(
                (&read["resultType"], &prompts["ttlMs"]),
                (&json!("complete"), &json!(0))
            );
        }
    }
}
