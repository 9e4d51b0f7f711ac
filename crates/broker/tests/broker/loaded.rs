//! A run that reaches only the servers it has loaded.

use serde_json::json;

use super::*;

/// Two servers, of which a run has loaded `stub`.
fn world() -> World {
    World::new(&[
        ("stub", ServerDefinition::stub()),
        ("other", ServerDefinition::stub()),
    ])
}

impl World {
    async fn ask_loaded(&self, loaded: &[&str], name: &str, args: Value) -> Result<Value, HostCallError> {
        let scope = RunScope {
            profile: RunProfile {
                validate: Validation::ByServer,
                reach: Reach::Only(Arc::new(loaded.iter().map(|name| (*name).to_owned()).collect())),
                appearance: Appearance::Bridge(Arc::default()),
                ..RunProfile::default()
            },
            ..scope()
        };
        let call = HostCall {
            name: name.to_owned(),
            args,
        };
        let answer = self
            .broker
            .calls(Principal::local(), scope)
            .call(call, context(LONG))
            .await?;
        Ok(serde_json::from_str(answer.get()).expect("an answer is JSON"))
    }
}

#[tokio::test]
async fn what_is_not_loaded_is_not_available_and_not_started() {
    let world = world();
    for (name, args) in [
        (
            "tool",
            json!({"server": "stub", "tool": "echo", "args": {"message": "x"}}),
        ),
        ("tool", json!({"server": "nope", "tool": "echo"})),
        ("tools", json!({"server": "stub"})),
        ("resources", json!({"server": "stub"})),
        ("resource", json!({"server": "stub", "uri": "stub://note"})),
        ("prompts", json!({"server": "stub"})),
        ("prompt", json!({"server": "stub", "name": "greet"})),
    ] {
        let server = args["server"].as_str().unwrap();
        let message = format!("Server '{server}' is not available");
        let hint = format!("pass servers=[{server:?}]");
        let answer = world.ask_loaded(&["other"], name, args.clone()).await;
        check_error(answer, "not_loaded", &message, Some(&hint));
    }
    let bare = world
        .ask_loaded(&["other"], "tool", json!({"tool": "echo"}))
        .await;
    check_error(
        bare,
        "not_loaded",
        "Server '' is not available",
        Some("pass servers=[\"\"]"),
    );
    let all = world.ask_loaded(&[], "servers", json!({})).await.unwrap();
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert!(!world.started());
}

#[tokio::test]
async fn what_is_loaded_is_listed_and_called() {
    let world = world();
    let loaded = ["stub"];
    let tools = world
        .ask_loaded(&loaded, "tools", json!({"server": "stub"}))
        .await
        .unwrap();
    assert_eq!(tools["name"], "stub");
    let call = json!({"server": "stub", "tool": "echo", "args": {"message": "x"}});
    assert_eq!(
        world.ask_loaded(&loaded, "tool", call).await.unwrap()["content"][0]["text"],
        "x"
    );
    let states = world.hub.states();
    assert_eq!(
        states.iter().filter(|state| state.status == Status::Idle).count(),
        1,
        "{states:?}"
    );
}

#[tokio::test]
async fn arguments_go_to_the_server_as_they_are() {
    let world = world();
    let call = json!({"server": "stub", "tool": "echo", "args": {"message": 5}});
    let checked = world.ask("tool", call.clone()).await;
    assert_eq!(checked.expect_err("checked").kind.name(), "invalid_arguments");
    let passed = world.ask_loaded(&["stub"], "tool", call).await;
    let refused = "server 'stub' refused the call of 'echo': no tool echo with these arguments (code -32602)";
    check_error(passed, "upstream", refused, None);
}

// C318
#[tokio::test]
async fn only_a_run_that_loads_its_servers_learns_where_they_work() {
    let world = World::new(&[
        ("stub", ServerDefinition::stub().cwd("/".as_ref())),
        ("other", ServerDefinition::stub()),
    ]);
    let servers = world.ask_loaded(&["stub"], "servers", json!({})).await.unwrap();
    assert_eq!(
        (&servers[0]["cwd"], servers[1].get("cwd")),
        (&json!("/"), None),
        "{servers}"
    );
    let asked = json!({"server": "stub", "detail": "name"});
    let tools = world.ask_loaded(&["stub"], "tools", asked.clone()).await.unwrap();
    assert_eq!(tools["cwd"], "/");
    for (name, args) in [("servers", json!({})), ("tools", asked)] {
        let answer = world.ask(name, args).await.unwrap();
        assert!(!answer.to_string().contains("cwd\":"), "{answer}");
    }
}
