//! A client installed by `codeyard install --url` connects as its file says.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use test_support::Codeyard;

use super::served::{Served, call, initialize};

const TOKEN: &str = "0123456789abcdef0123";

#[tokio::test]
async fn an_installed_client_connects_as_its_file_says() {
    let codeyard = Codeyard::with_stub().unwrap();
    let token = codeyard.directory().join("token");
    std::fs::write(&token, TOKEN).unwrap();
    std::fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
    let token = token.to_str().unwrap().to_owned();
    let served = Served::start(codeyard, &["--token-file", &token]).await;
    let directory = served.codeyard.directory().join("config/zed");
    std::fs::create_dir_all(&directory).unwrap();
    let url = served.url();
    let arguments = ["install", "zed", "--url", &url, "--token-file", &token, "--yes"];
    let installed = served.codeyard.run(arguments).await.unwrap();
    assert!(installed.status.success(), "{installed:?}");
    let settings = std::fs::read_to_string(directory.join("settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let entry = &settings["context_servers"]["codeyard"];
    assert_eq!(entry["url"], url.as_str());
    let header = entry["headers"]["Authorization"].as_str().unwrap();
    assert_eq!(served.post(&[], &initialize()).await.status, 401);
    let opened = served.post(&[("authorization", header)], &initialize()).await;
    let session = opened.header("mcp-session-id").unwrap();
    let headers = [("authorization", header), ("mcp-session-id", session)];
    let code = "return (await tools.stub.add(a=2, b=3))['sum']";
    let answer = served.post(&headers, &call(1, code, None)).await.events();
    let result = &answer.last().unwrap()["result"]["structuredContent"]["result"];
    assert_eq!(*result, json!(5), "{answer:?}");
}
