//! Permissions to define upstream servers, and the visibility of each server.

use serde_json::{Value, json};
use test_support::MetaToolResult;

use super::actors::{ADMIN, ALICE, ANA, Actor, BOB, PUB, VIC};
use super::running::{Gateway, code};
use super::upstreams::{add, body, remote};

/// The server names shown to a caller.
async fn names(gateway: &Gateway, actor: &Actor) -> Vec<String> {
    let page = gateway.get(actor, "/upstreams").await;
    let upstreams = page["upstreams"].as_array().unwrap().iter();
    upstreams
        .map(|upstream| upstream["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Callers of another team learn nothing of a server, over any entry.
pub async fn s0_82(gateway: &Gateway) {
    let remote = remote(gateway).await;
    let more = json!({"team_id": "team-a", "tags": ["theirs"]});
    gateway
        .ask(&ADMIN, "POST /upstreams", body("hers", &remote, &more), 201)
        .await;
    // Visible to ANA alone; no call connects to it.
    let private = json!({"name": "mine", "url": "https://mcp.example.com/", "team_id": "team-a", "visibility": "private"});
    gateway.ask(&ANA, "POST /upstreams", private, 201).await;
    let often = json!({"sandbox_policy": {"max_runs_per_minute": 1000}});
    let programs = gateway
        .make(&ADMIN, code(&gateway.name("programs"), &often))
        .await;
    let searches = code(&gateway.name("code"), &json!({"surface": "code"}));
    let servers = [programs, gateway.make(&ADMIN, searches).await];
    for (actor, expected) in [
        (&ALICE, ["hers", "stub"].as_slice()),
        (&VIC, &["hers", "stub"]),
        (&ANA, &["hers", "mine", "stub"]),
        (&ADMIN, &["hers", "mine", "stub"]),
        (&BOB, &["stub"]),
        (&PUB, &["stub"]),
    ] {
        assert_eq!(names(gateway, actor).await, expected, "{}", actor.email);
    }
    gateway.check((&ALICE, &servers[0]), &add("hers"), "5\n").await;
    gateway.check((&ADMIN, &servers[0]), &add("hers"), "5\n").await;
    let seen = "from mcp import runtime\nprint(sorted(runtime.discovered_servers()))";
    gateway
        .check((&ALICE, &servers[0]), seen, "['hers', 'stub']\n")
        .await;
    gateway.check((&BOB, &servers[0]), seen, "['stub']\n").await;
    for actor in [&BOB, &PUB] {
        same_as_unknown(gateway, actor, &servers).await;
    }
    same_as_unknown_to(gateway, &ALICE, &servers, "mine").await;
    // A narrower visibility applies to the next request, even in a session that has called the server.
    gateway
        .ask(
            &ADMIN,
            "PUT /upstreams/hers",
            json!({"visibility": "private"}),
            200,
        )
        .await;
    same_as_unknown(gateway, &ALICE, &servers).await;
    gateway
        .ask(
            &ADMIN,
            "PUT /upstreams/hers",
            json!({"visibility": "public"}),
            200,
        )
        .await;
    gateway.check((&BOB, &servers[0]), &add("hers"), "5\n").await;
    for name in ["hers", "mine"] {
        let request = format!("DELETE /upstreams/{name}");
        gateway.ask(&ADMIN, &request, Value::Null, 200).await;
    }
}

async fn same_as_unknown(gateway: &Gateway, actor: &Actor, servers: &[String; 2]) {
    same_as_unknown_to(gateway, actor, servers, "hers").await;
}

async fn same_as_unknown_to(gateway: &Gateway, actor: &Actor, servers: &[String; 2], name: &str) {
    let unknown = "nope";
    for (request, body) in [
        ("GET /upstreams/{}", Value::Null),
        ("PUT /upstreams/{}", json!({"tags": 7})),
        ("DELETE /upstreams/{}", Value::Null),
        ("POST /upstreams/{}/test", Value::Null),
    ] {
        let asked = async |name: &str| {
            let answer = gateway
                .rest(actor, &request.replace("{}", name), body.clone())
                .await;
            (answer.status, answer.text().to_owned())
        };
        assert_eq!(
            asked(name).await,
            asked(unknown).await,
            "{request} {}",
            actor.email
        );
    }
    let [programs, code] = servers;
    let said = |ran: &MetaToolResult, name: &str| {
        let text = format!("{} {}", ran.output(), ran.error());
        text.replace(name, "NAME")
    };
    for program in [
        "print((await tools.{}.add({'a': 1, 'b': 1}))['sum'])",
        "print(await __toolcall__('{}', 'add', {'a': 1, 'b': 1}))",
        "from mcp import resources\nprint(await resources.list('{}'))",
        "from mcp import resources\nprint(await resources.read('x:y', server='{}'))",
        "from mcp import runtime\nprint(runtime.tools('{}'))",
        "from mcp import runtime\nprint(runtime.describe('{}.add'))",
        "from mcp import runtime\nprint({hit['server'] for hit in runtime.search('{} add')} - {'stub', 'hers'})",
        "import os\nprint(os.path.exists('/tools/{}'), os.listdir('/tools'))",
        "from mcp import runtime\nprint(runtime.discovered_servers(), '{}')",
    ] {
        let ran = async |name: &str| {
            let ran = gateway.sh(actor, programs, &program.replace("{}", name)).await;
            said(&ran, name)
        };
        let (hidden, absent) = (ran(name).await, ran(unknown).await);
        assert_eq!(hidden, absent, "{program} {}", actor.email);
    }
    let browsed = gateway
        .call(actor, programs, "fs_browse", json!({"path": "/tools"}))
        .await;
    assert!(!browsed.0.to_string().contains(name), "{browsed:?}");
    let query = json!({"query": format!("{name} add numbers"), "limit": 20});
    let found = gateway
        .call(actor, code, "search_tools", query)
        .await
        .0
        .to_string();
    assert!(
        found.contains("stub.add") && !found.contains(&format!("{name}.")),
        "{found}"
    );
    let listed = gateway.get(actor, &format!("/servers/{programs}/tools")).await;
    assert!(!listed.to_string().contains(name), "{listed}");
}

#[tokio::test]
async fn s0_82_upstream_servers_of_other_teams_do_not_exist() {
    s0_82(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn s0_82_a_standard_server_relays_only_visible_servers() {
    let gateway = Gateway::with_stub().await;
    let remote = remote(&gateway).await;
    let more = json!({"team_id": "team-a"});
    gateway
        .ask(&ADMIN, "POST /upstreams", body("hers", &remote, &more), 201)
        .await;
    let id = gateway.make(&ADMIN, json!({"name": "std"})).await;
    let listed = async |actor: &Actor| {
        let tools = gateway.rpc(actor, "tools/list", json!({"server_id": id})).await;
        tools["result"]["tools"].to_string()
    };
    assert!(listed(&ALICE).await.contains("hers"));
    for actor in [&BOB, &PUB] {
        let tools = listed(actor).await;
        assert!(!tools.contains("hers") && tools.contains("add"), "{tools}");
        let call = |name: &str| json!({"server_id": id, "name": name, "arguments": {"a": 1, "b": 1}});
        let hidden = gateway
            .rpc(actor, "tools/call", call("hers_add"))
            .await
            .to_string();
        let absent = gateway
            .rpc(actor, "tools/call", call("nope_add"))
            .await
            .to_string();
        assert_eq!(hidden.replace("hers", "nope"), absent);
    }
}

#[tokio::test]
async fn each_role_defines_servers_within_its_rights() {
    let gateway = Gateway::with_stub().await;
    let open = "https://mcp.example.com/mcp";
    let of_team = |more: Value| {
        let mut body = json!({"name": "new", "url": open, "team_id": "team-a"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    };
    let off = "`command_upstreams = true`";
    for (actor, body, status, text) in [
        (&ALICE, of_team(json!({})), 403, "Required: upstreams.create"),
        (&VIC, of_team(json!({})), 403, "Required: upstreams.create"),
        (&BOB, of_team(json!({})), 422, "team_id: unknown team 'team-a'"),
        (
            &ANA,
            of_team(json!({"team_id": null})),
            422,
            "team_id: is required",
        ),
        (
            &ANA,
            of_team(json!({"visibility": "public"})),
            422,
            "visibility: only an unrestricted",
        ),
        (
            &ANA,
            of_team(json!({"url": "http://127.0.0.1:9/"})),
            422,
            "url: is inside the gateway's own network",
        ),
        (
            &ANA,
            of_team(json!({"url": format!("https://{}/", "10.0.0.1")})),
            422,
            "url: is inside",
        ),
        (
            &ANA,
            of_team(json!({"url": "https://localhost/"})),
            422,
            "url: is inside",
        ),
        (
            &ANA,
            of_team(json!({"url": "https://${HOST}/"})),
            422,
            "url: holds a reference",
        ),
        (
            &ANA,
            of_team(json!({"headers": {"A": "${PATH}"}})),
            422,
            "headers.A: holds a reference",
        ),
        (
            &ANA,
            of_team(json!({"headers": {"A": "${NONE:-x}"}})),
            422,
            "headers.A: holds a reference",
        ),
        (&ANA, of_team(json!({"url": null, "command": "sh"})), 422, off),
        (&ADMIN, of_team(json!({"url": null, "command": "sh"})), 422, off),
        (
            &ADMIN,
            of_team(json!({"name": "stub"})),
            409,
            "already exists with name: stub",
        ),
        (
            &ADMIN,
            of_team(json!({"name": "STUB"})),
            409,
            "already exists with name: STUB",
        ),
        (
            &ADMIN,
            of_team(json!({"team_id": "team-x"})),
            422,
            "unknown team 'team-x'",
        ),
    ] {
        gateway
            .check_refused(actor, "POST /upstreams", body, (status, text))
            .await;
    }
    gateway
        .ask(&ANA, "POST /upstreams", of_team(json!({"name": "her-own"})), 201)
        .await;
    let taken = (409, "already exists with name: her_own");
    gateway
        .check_refused(
            &ADMIN,
            "POST /upstreams",
            of_team(json!({"name": "her_own"})),
            taken,
        )
        .await;
    let put = "PUT /upstreams/her-own";
    gateway
        .check_refused(&ALICE, put, json!({}), (403, "Required: upstreams.update"))
        .await;
    for (change, text) in [
        (json!({"team_id": "team-b"}), "unknown team 'team-b'"),
        (
            json!({"visibility": "public"}),
            "visibility: only an unrestricted",
        ),
        (json!({"url": "https://[::1]/"}), "url: is inside"),
        (
            json!({"headers": {"A": "${HOME}"}}),
            "headers.A: holds a reference",
        ),
        (json!({"command": "sh", "url": null}), off),
    ] {
        gateway.check_refused(&ANA, put, change, (422, text)).await;
    }
    // Readers see no definition; managers do.
    let seen = gateway.get(&ALICE, "/upstreams/her-own").await;
    assert_eq!((&seen["url"], &seen["teamId"]), (&Value::Null, &json!("team-a")));
    assert_eq!(gateway.get(&ANA, "/upstreams/her-own").await["url"], open);
    // The list shows the operator's servers; REST cannot change them.
    for request in ["PUT /upstreams/stub", "DELETE /upstreams/stub"] {
        let body = if request.starts_with("PUT") {
            json!({})
        } else {
            Value::Null
        };
        let refused = gateway.ask(&ADMIN, request, body, 409).await.to_string();
        let directory = gateway.codeyard.directory().display().to_string();
        assert!(
            refused.contains("`--config`") && !refused.contains(&directory),
            "{refused}"
        );
    }
    let stub = gateway.get(&ALICE, "/upstreams/stub").await;
    assert_eq!(
        (&stub["source"], &stub["command"]),
        (&json!("file"), &Value::Null)
    );
    let tried = gateway
        .ask(&ADMIN, "POST /upstreams/stub/test", Value::Null, 200)
        .await;
    assert_eq!(tried["works"], true, "{tried}");
    gateway
        .check_refused(
            &ANA,
            "POST /upstreams/stub/test",
            Value::Null,
            (403, "unrestricted"),
        )
        .await;
}
