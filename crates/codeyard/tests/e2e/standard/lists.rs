//! Resources, prompts and completions of one server and of two.

use serde_json::json;
use test_support::{Codeyard, Era};

use super::{ERAS, names, one, open, two};

#[tokio::test]
async fn one_server_is_relayed_whole() {
    for upstream in [Era::Old, Era::Legacy, Era::Modern] {
        for era in ERAS {
            let codeyard = one(upstream);
            let mut client = open(&codeyard, era).await;
            let listed = client.result("resources/list", json!({})).await.unwrap();
            assert_eq!(listed["resources"][0]["vendor"], json!({"z": 1}), "{listed}");
            assert_eq!(listed["_meta"]["listed"], true);
            if era == Era::Modern {
                assert_eq!(
                    (&listed["ttlMs"], &listed["cacheScope"]),
                    (&json!(0), &json!("private"))
                );
            }
            let read = client
                .result("resources/read", json!({"uri": "stub://note"}))
                .await
                .unwrap();
            assert_eq!(read["contents"][0]["text"], "stub has stub://note");
            let answer = client
                .request("resources/read", json!({"uri": "no://where"}))
                .await
                .unwrap();
            assert_eq!(
                answer["error"],
                json!({"code": -32602, "message": "no such resource", "data": {"uri": "no://where"}})
            );
            let prompts = client.result("prompts/list", json!({})).await.unwrap();
            assert_eq!(prompts["prompts"][0]["x-vendor"], true, "{prompts}");
            let params = json!({"name": "greet", "arguments": {"who": "Ann"}});
            let prompt = client.result("prompts/get", params).await.unwrap();
            assert_eq!(prompt["messages"][0]["content"]["text"], "stub greets Ann");
        }
    }
}

#[tokio::test]
async fn two_servers_are_distinguished() {
    for era in ERAS {
        let codeyard = two();
        let mut client = open(&codeyard, era).await;
        let listed = client.result("resources/list", json!({})).await.unwrap();
        let uris: Vec<_> = listed["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|each| each["uri"].as_str().unwrap())
            .collect();
        assert_eq!(uris, ["one://note", "shared://same", "two://note"]);
        let shared = client
            .result("resources/read", json!({"uri": "shared://same"}))
            .await
            .unwrap();
        assert_eq!(shared["contents"][0]["text"], "one has shared://same");
        let templates = client
            .result("resources/templates/list", json!({}))
            .await
            .unwrap();
        assert_eq!(templates["resourceTemplates"].as_array().map(Vec::len), Some(2));
        for server in ["one", "two"] {
            for uri in [format!("{server}://note"), format!("{server}://page/7")] {
                let read = client
                    .result("resources/read", json!({"uri": uri}))
                    .await
                    .unwrap();
                assert_eq!(read["contents"][0]["text"], format!("{server} has {uri}"));
            }
            let params = json!({"name": format!("{server}_greet"), "arguments": {"who": "Bo"}});
            let prompt = client.result("prompts/get", params).await.unwrap();
            assert_eq!(
                prompt["messages"][0]["content"]["text"],
                format!("{server} greets Bo")
            );
            let reference = json!({"type": "ref/prompt", "name": format!("{server}_greet")});
            let params = json!({"ref": reference, "argument": {"name": "who", "value": "B"}});
            let completed = client.result("completion/complete", params).await.unwrap();
            assert_eq!(completed["completion"]["values"], json!(["greet", server]));
        }
        let prompts = client.result("prompts/list", json!({})).await.unwrap();
        assert_eq!(
            names(prompts["prompts"].as_array().unwrap()),
            ["one_greet", "two_greet"]
        );
        let answer = client
            .request("resources/read", json!({"uri": "no://where"}))
            .await
            .unwrap();
        let code = if era == Era::Modern { -32602 } else { -32002 };
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["data"], json!({"uri": "no://where"}));
    }
}

#[tokio::test]
async fn a_uri_is_routed_before_any_list() {
    let codeyard = two();
    let mut client = open(&codeyard, Era::Legacy).await;
    let read = client
        .result("resources/read", json!({"uri": "two://page/1"}))
        .await
        .unwrap();
    assert_eq!(read["contents"][0]["text"], "two has two://page/1");
}

#[tokio::test]
async fn servers_without_resources_give_empty_lists_and_without_servers_there_are_none() {
    let without = [Codeyard::with_stub().unwrap(), Codeyard::new().unwrap()];
    for codeyard in without {
        let mut client = open(&codeyard, Era::Legacy).await;
        for (method, key) in [
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ] {
            let listed = client.result(method, json!({})).await.unwrap();
            assert_eq!(listed[key], json!([]), "{method}");
        }
    }
}

#[tokio::test]
async fn bad_parameters_are_named() {
    let codeyard = two();
    let mut client = open(&codeyard, Era::Legacy).await;
    for (method, params, field) in [
        ("tools/call", json!({}), "`name`"),
        ("resources/read", json!({"uri": 5}), "`uri`"),
        ("tools/list", json!({"cursor": "elsewhere"}), "`cursor`"),
        ("completion/complete", json!({"ref": 1}), "`ref`"),
        ("prompts/get", json!({"name": "nobody_knows"}), "nobody_knows"),
    ] {
        let answer = client.request(method, params).await.unwrap();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(
            answer["error"]["message"].as_str().unwrap().contains(field),
            "{answer}"
        );
    }
}
