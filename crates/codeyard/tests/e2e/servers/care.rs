//! Settings of a definition that confine a server, bound it, or suspend it while idle.

use std::fs;

use serde_json::json;
use test_support::{CodeClient, Codeyard, ServerDefinition, is_gone, wait_until};

#[tokio::test]
async fn only_a_confined_server_s_access_outside_of_its_paths_fails() {
    let codeyard = Codeyard::with_stub().unwrap();
    let home = codeyard.directory().join("home");
    for name in ["open", "closed"] {
        fs::create_dir(home.join(name)).unwrap();
        fs::write(home.join(name).join("file"), name).unwrap();
    }
    let sandbox = json!({"read": ["${HOME}/open"], "write": [], "network": false});
    let confined = ServerDefinition::stub_with_extras().field("sandbox", sandbox);
    let mut client = CodeClient::of(codeyard.server("confined", &confined)).await;
    let code = format!(
        "open, closed = '{home}/open/file', '{home}/closed/file'\n\
         print(await tools.confined.read(path=open))\n\
         print(await tools.confined.read(path=closed))\n\
         print(await tools.confined.write(path=open))\n\
         print(await tools.confined.connect(address='127.0.0.1:9'))",
        home = home.display()
    );
    let ran = client.run(&code).await;
    if ran.is_error() {
        assert!(ran.error().contains("this kernel cannot confine"), "{ran:?}");
        return;
    }
    let denied = "Permission denied (os error 13)\n";
    let expected = format!("open\n{denied}{denied}Operation not permitted (os error 1)\n");
    client.check(&code, &expected).await;
    client
        .check("print(await tools.stub.echo(message='after'))", "after\n")
        .await;
}

#[tokio::test]
async fn a_call_wakes_a_suspended_server() {
    let resting = ServerDefinition::stub().field("idleStop", json!(300));
    let mut client = CodeClient::of(Codeyard::new().unwrap().server("resting", &resting)).await;
    let code = "return (await tools.resting.pid())['pid']";
    let first = client.run(code).await.result().as_u64().unwrap();
    let first_pid = u32::try_from(first).unwrap();
    wait_until("it rests", || is_gone(first_pid).then_some(())).await;
    let second = client.run(code).await.result().as_u64().unwrap();
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_definition_with_wrong_restrictions_is_refused() {
    let odd = ServerDefinition::stub()
        .field("sandbox", json!({"reads": []}))
        .field("limits", json!({"memory": "1 KiB"}));
    let codeyard = Codeyard::new().unwrap().server("odd", &odd);
    let output = codeyard.run(&["tools"]).await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for words in [
        "mcpServers.odd.sandbox.reads: is not a field of this object; did you mean `read`?",
        "mcpServers.odd.limits.memory: no program starts with less than `1 MiB`",
    ] {
        assert!(said.contains(words), "{said}");
    }
}
