//! Upstream servers over REST: defined, used, changed, hidden from others and removed.

use serde_json::{Value, json};
use test_support::{Codeyard, MetaToolResult, PostgresServer, RemoteServer, Way};

use super::actors::{ADMIN, ALICE, ANA, Actor, BOB, PUB, VIC};
use super::running::{Gateway, code, installation};

const SECRET: &str = "sekret-token-4711";

/// A server that demands [`SECRET`]. Afterwards the teams exist.
async fn remote(gateway: &Gateway) -> RemoteServer {
    for actor in [&ALICE, &BOB] {
        gateway.token(actor).await;
    }
    let remote = RemoteServer::start(Way::Modern).await.unwrap();
    remote.require_token(SECRET);
    remote
}

/// The body that defines it, with further members.
fn body(name: &str, remote: &RemoteServer, more: &Value) -> Value {
    let mut body = json!({
        "name": name,
        "url": remote.url(),
        "headers": {"Authorization": format!("Bearer {SECRET}")},
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn add(server: &str) -> String {
    format!("print((await tools.{server}.add({{'a': 2, 'b': 3}}))['sum'])")
}

/// The names that a caller is shown.
async fn names(gateway: &Gateway, actor: &Actor) -> Vec<String> {
    let page = gateway.get(actor, "/upstreams").await;
    let upstreams = page["upstreams"].as_array().unwrap().iter();
    upstreams
        .map(|upstream| upstream["name"].as_str().unwrap().to_owned())
        .collect()
}

/// From its definition to its removal, with a virtual server in use all the time.
pub async fn lifecycle(gateway: &Gateway) {
    let remote = remote(gateway).await;
    let id = gateway.cs_a(&json!({"mount_rules": {"include_tags": ["geo"]}})).await;
    let user = (&ALICE, id.as_str());
    let absent = "Tool 'far/add' is not mounted for this server";
    gateway.check_error(user, &add("far"), absent).await;

    let more = json!({"tags": ["geo"], "description": "maps", "maxCalls": 7});
    let made = gateway.ask(&ADMIN, "POST /upstreams", body("far", &remote, &more), 201).await;
    let expected = json!({
        "name": "far", "source": "rest", "transport": "http", "visibility": "public", "tags": ["geo"],
        "description": "maps", "ownerEmail": ADMIN.email, "maxCalls": 7, "url": remote.url(),
        "headers": {"Authorization": "[hidden]"}, "disabled": false,
    });
    for (member, value) in expected.as_object().unwrap() {
        assert_eq!(&made[member], value, "{member}");
    }
    gateway.check(user, &add("far"), "5\n").await;
    let read = gateway.get(&ADMIN, "/upstreams/far").await;
    let health = &read["health"];
    assert_eq!((&health["state"], &health["protocol"]), (&json!("running"), &json!("modern")), "{read}");
    assert!(health["tools"].as_u64() > Some(3) && health["checkedAt"].is_string(), "{read}");
    let tried = gateway.ask(&ADMIN, "POST /upstreams/far/test", Value::Null, 200).await;
    assert!(tried["works"] == true && tried["tools"].to_string().contains("\"add\""), "{tried}");

    // A body that was read may be written back; a change of tags moves the mounts.
    let put = "PUT /upstreams/far";
    let mut again = read.clone();
    again["tags"] = json!(["other"]);
    gateway.ask(&ADMIN, put, again, 200).await;
    gateway.check_error(user, &add("far"), absent).await;
    gateway.ask(&ADMIN, put, json!({"tags": ["geo"]}), 200).await;
    gateway.check(user, &add("far"), "5\n").await;
    gateway
        .check_refused(&ADMIN, put, read, (409, "has changed since it was read"))
        .await;
    gateway.ask(&ADMIN, put, json!({"disabled": true}), 200).await;
    gateway.check_error(user, &add("far"), absent).await;
    let read = gateway.get(&ADMIN, "/upstreams/far").await;
    assert_eq!(read["health"]["state"], "disabled");
    let test = "POST /upstreams/far/test";
    gateway.check_refused(&ADMIN, test, Value::Null, (409, "is disabled")).await;
    gateway.ask(&ADMIN, put, json!({"disabled": false}), 200).await;
    gateway.check(user, &add("far"), "5\n").await;

    gateway.ask(&ADMIN, "DELETE /upstreams/far", Value::Null, 200).await;
    gateway.check_error(user, &add("far"), absent).await;
    let gone = (404, r#"{"detail":"Upstream server not found"}"#);
    for request in ["GET /upstreams/far", "DELETE /upstreams/far", test] {
        gateway.check_refused(&ADMIN, request, Value::Null, gone).await;
    }
    gateway.check_refused(&ADMIN, put, json!({}), gone).await;
}

/// What callers of another team learn of a server, over every way: nothing.
pub async fn s0_82(gateway: &Gateway) {
    let remote = remote(gateway).await;
    let more = json!({"team_id": "team-a", "tags": ["theirs"]});
    gateway.ask(&ADMIN, "POST /upstreams", body("hers", &remote, &more), 201).await;
    // Of ANA alone; nobody ever connects to it.
    let private = json!({"name": "mine", "url": "https://mcp.invalid/", "team_id": "team-a", "visibility": "private"});
    gateway.ask(&ANA, "POST /upstreams", private, 201).await;
    let often = json!({"sandbox_policy": {"max_runs_per_minute": 1000}});
    let programs = gateway.make(&ADMIN, code(&gateway.name("programs"), &often)).await;
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
    for actor in [&BOB, &PUB] {
        same_as_unknown(gateway, actor, &servers).await;
    }
    same_as_unknown_to(gateway, &ALICE, &servers, "mine").await;
    // A narrower visibility holds at the next request, also for a session that has called the server.
    gateway.ask(&ADMIN, "PUT /upstreams/hers", json!({"visibility": "private"}), 200).await;
    same_as_unknown(gateway, &ALICE, &servers).await;
    gateway.ask(&ADMIN, "PUT /upstreams/hers", json!({"visibility": "public"}), 200).await;
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
            let answer = gateway.rest(actor, &request.replace("{}", name), body.clone()).await;
            (answer.status, answer.text().to_owned())
        };
        assert_eq!(asked(name).await, asked(unknown).await, "{request} {}", actor.email);
    }
    let [programs, code] = servers;
    let said = |ran: &MetaToolResult, name: &str| {
        let text = format!("{} {}", ran.output(), ran.error());
        text.replace(name, "NAME")
    };
    for program in [
        "print((await tools.{}.add({'a': 1, 'b': 1}))['sum'])",
        "print(await __toolcall__('{}', 'add', {'a': 1, 'b': 1}))",
        "from mcp import runtime\nprint(await runtime.list_resources('{}'))",
        "import os\nprint(os.path.exists('/tools/{}'), os.listdir('/tools'))",
        "from mcp import runtime\nprint([s for s in runtime.discovered_servers()])",
    ] {
        let ran = async |name: &str| {
            let ran = gateway.sh(actor, programs, &program.replace("{}", name)).await;
            said(&ran, name)
        };
        let (hidden, absent) = (ran(name).await, ran(unknown).await);
        assert_eq!(hidden, absent, "{program} {}", actor.email);
    }
    let browsed = gateway.call(actor, programs, "fs_browse", json!({"path": "/tools"})).await;
    assert!(!browsed.0.to_string().contains(name), "{browsed:?}");
    let query = json!({"query": format!("{name} add numbers"), "limit": 20});
    let found = gateway.call(actor, code, "search_tools", query).await.0.to_string();
    assert!(found.contains("stub.add") && !found.contains(&format!("{name}.")), "{found}");
    let listed = gateway.get(actor, &format!("/servers/{programs}/tools")).await;
    assert!(!listed.to_string().contains(name), "{listed}");
}

#[tokio::test]
async fn an_upstream_server_is_used_changed_and_removed() {
    lifecycle(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn s0_82_upstream_servers_of_other_teams_do_not_exist() {
    s0_82(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn s0_82_a_standard_server_passes_on_what_its_caller_sees() {
    let gateway = Gateway::with_stub().await;
    let remote = remote(&gateway).await;
    let more = json!({"team_id": "team-a"});
    gateway.ask(&ADMIN, "POST /upstreams", body("hers", &remote, &more), 201).await;
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
        let hidden = gateway.rpc(actor, "tools/call", call("hers_add")).await.to_string();
        let absent = gateway.rpc(actor, "tools/call", call("nope_add")).await.to_string();
        assert_eq!(hidden.replace("hers", "nope"), absent);
    }
}

#[tokio::test]
async fn who_may_define_what() {
    let gateway = Gateway::with_stub().await;
    let open = "https://mcp.example.com/mcp";
    let of_team = |more: Value| {
        let mut body = json!({"name": "new", "url": open, "team_id": "team-a"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let off = "`command_upstreams = true`";
    for (actor, body, status, text) in [
        (&ALICE, of_team(json!({})), 403, "Required: upstreams.create"),
        (&VIC, of_team(json!({})), 403, "Required: upstreams.create"),
        (&BOB, of_team(json!({})), 422, "team_id: unknown team 'team-a'"),
        (&ANA, of_team(json!({"team_id": null})), 422, "team_id: is required"),
        (&ANA, of_team(json!({"visibility": "public"})), 422, "visibility: only an unrestricted"),
        (&ANA, of_team(json!({"url": "http://127.0.0.1:9/"})), 422, "url: is inside the gateway's own network"),
        (&ANA, of_team(json!({"url": "https://10.0.0.1/"})), 422, "url: is inside"),
        (&ANA, of_team(json!({"url": "https://localhost/"})), 422, "url: is inside"),
        (&ANA, of_team(json!({"url": "https://${HOST}/"})), 422, "url: holds a reference"),
        (&ANA, of_team(json!({"headers": {"A": "${PATH}"}})), 422, "headers.A: holds a reference"),
        (&ANA, of_team(json!({"headers": {"A": "${NONE:-x}"}})), 422, "headers.A: holds a reference"),
        (&ANA, of_team(json!({"url": null, "command": "sh"})), 422, off),
        (&ADMIN, of_team(json!({"url": null, "command": "sh"})), 422, off),
        (&ADMIN, of_team(json!({"name": "stub"})), 409, "already exists with name: stub"),
        (&ADMIN, of_team(json!({"name": "STUB"})), 409, "already exists with name: STUB"),
        (&ADMIN, of_team(json!({"team_id": "team-x"})), 422, "unknown team 'team-x'"),
    ] {
        gateway.check_refused(actor, "POST /upstreams", body, (status, text)).await;
    }
    gateway.ask(&ANA, "POST /upstreams", of_team(json!({"name": "her-own"})), 201).await;
    let taken = (409, "already exists with name: her_own");
    gateway
        .check_refused(&ADMIN, "POST /upstreams", of_team(json!({"name": "her_own"})), taken)
        .await;
    let put = "PUT /upstreams/her-own";
    gateway.check_refused(&ALICE, put, json!({}), (403, "Required: upstreams.update")).await;
    for (change, text) in [
        (json!({"team_id": "team-b"}), "unknown team 'team-b'"),
        (json!({"visibility": "public"}), "visibility: only an unrestricted"),
        (json!({"url": "https://[::1]/"}), "url: is inside"),
        (json!({"headers": {"A": "${HOME}"}}), "headers.A: holds a reference"),
        (json!({"command": "sh", "url": null}), off),
    ] {
        gateway.check_refused(&ANA, put, change, (422, text)).await;
    }
    // Whoever reads sees no definition; whoever manages does.
    let seen = gateway.get(&ALICE, "/upstreams/her-own").await;
    assert_eq!((&seen["url"], &seen["teamId"]), (&Value::Null, &json!("team-a")));
    assert_eq!(gateway.get(&ANA, "/upstreams/her-own").await["url"], open);
    // The operator's servers are shown, and changed elsewhere.
    for request in ["PUT /upstreams/stub", "DELETE /upstreams/stub"] {
        let body = if request.starts_with("PUT") { json!({}) } else { Value::Null };
        let refused = gateway.ask(&ADMIN, request, body, 409).await.to_string();
        let directory = gateway.codeyard.directory().display().to_string();
        assert!(refused.contains("`--config`") && !refused.contains(&directory), "{refused}");
    }
    let stub = gateway.get(&ALICE, "/upstreams/stub").await;
    assert_eq!((&stub["source"], &stub["command"]), (&json!("file"), &Value::Null));
    let tried = gateway.ask(&ADMIN, "POST /upstreams/stub/test", Value::Null, 200).await;
    assert_eq!(tried["works"], true, "{tried}");
    gateway
        .check_refused(&ANA, "POST /upstreams/stub/test", Value::Null, (403, "unrestricted"))
        .await;
}

#[tokio::test]
async fn bad_bodies_are_refused_with_every_field() {
    let gateway = Gateway::with_stub().await;
    let many = json!({
        "name": "a b", "urll": "x", "timeout": -1, "tags": 7, "visibility": "all", "headers": {"Host": "x"},
        "url": "ftp://x", "maxCalls": "many", "serverUrl": "x", "deny": ["["], "args": [1],
    });
    let refused = gateway.ask(&ADMIN, "POST /upstreams", many, 422).await;
    for field in [
        "name", "urll", "timeout", "tags", "visibility", "headers.Host", "url", "maxCalls", "serverUrl", "deny[0]",
    ] {
        let errors = refused["errors"].as_array().unwrap();
        assert!(errors.iter().any(|error| error["path"] == field), "{field}: {refused}");
    }
    assert!(refused.to_string().contains("did you mean `url`?"), "{refused}");
    for (body, status) in [(json!([]), 422), (json!({}), 422), (json!(7), 422)] {
        gateway.ask(&ADMIN, "POST /upstreams", body, status).await;
    }
    let token = gateway.token(&ADMIN).await;
    for body in [b"".as_slice(), b"{", b"{\"name\":\"\xff\"}"] {
        let answer = gateway.rest_with(Some(&token), "POST /upstreams", body).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
    assert_eq!(names(&gateway, &ADMIN).await, ["stub"]);
}

#[tokio::test]
async fn secrets_are_in_no_answer() {
    let gateway = Gateway::start(installation().env("FAR_TOKEN", SECRET)).await;
    let remote = remote(&gateway).await;
    let headers = json!({"team_id": "team-a", "headers": {"Authorization": "Bearer ${FAR_TOKEN}"}});
    let mut answers = Vec::new();
    answers.push(gateway.ask(&ADMIN, "POST /upstreams", body("far", &remote, &headers), 201).await);
    let id = gateway.cs_a(&json!({})).await;
    gateway.check((&ALICE, &id), &add("far"), "5\n").await;
    // An admin of the team changes tags; the header stays what the platform admin wrote.
    let put = "PUT /upstreams/far";
    answers.push(gateway.ask(&ANA, put, json!({"tags": ["x"]}), 200).await);
    gateway.check((&ALICE, &id), &add("far"), "5\n").await;
    let moved = json!({"url": "https://mcp.example.com/mcp"});
    answers.push(gateway.ask(&ANA, put, moved, 422).await);
    assert!(answers[2].to_string().contains("headers.Authorization"), "{}", answers[2]);
    // A server that refuses the token and repeats it.
    remote.require_token("another");
    answers.push(gateway.ask(&ADMIN, put, json!({"tags": ["y"]}), 200).await);
    answers.push(gateway.ask(&ANA, "POST /upstreams/far/test", Value::Null, 200).await);
    assert_eq!(answers[4]["works"], false, "{}", answers[4]);
    for actor in [&ADMIN, &ANA, &ALICE] {
        answers.push(gateway.get(actor, "/upstreams").await);
        answers.push(gateway.get(actor, "/upstreams/far").await);
    }
    let failed = answers.last().unwrap();
    assert_eq!((&failed["health"]["state"], &failed["health"]["lastError"]), (&json!("failed"), &Value::Null));
    let ran = gateway.sh(&ALICE, &id, &add("far")).await;
    assert!(ran.is_error());
    answers.push(ran.0);
    for answer in answers {
        let text = answer.to_string();
        assert!(!text.contains(SECRET) && !text.contains("FAR_TOKEN"), "{text}");
    }
    let unset = body("unset", &remote, &json!({"headers": {"A": "${NO_SUCH_THING}"}}));
    let why = (422, "headers.A: the variable NO_SUCH_THING is not set");
    gateway.check_refused(&ADMIN, "POST /upstreams", unset, why).await;
}

fn with_commands(codeyard: Codeyard) -> Codeyard {
    codeyard.settings("[gateway]\ncommand_upstreams = true\n")
}

#[tokio::test]
async fn commands_need_the_operator_s_consent() {
    let gateway = Gateway::start(with_commands(installation())).await;
    let program = test_support::codeyard_binary();
    let command = json!({"name": "crm", "command": program, "args": ["demo-server", "crm"], "env": {"X": SECRET}});
    let mut of_team = command.clone();
    of_team["team_id"] = json!("team-a");
    let refused = (422, "only an unrestricted platform admin defines one");
    gateway.check_refused(&ANA, "POST /upstreams", of_team, refused).await;
    let made = gateway.ask(&ADMIN, "POST /upstreams", command, 201).await;
    assert_eq!((&made["transport"], &made["env"]), (&json!("stdio"), &json!({"X": "[hidden]"})));
    let id = gateway.cs_p().await;
    let find = "print((await tools.crm.get_customer(customer_id='C-0042'))['name'])";
    gateway.check((&ALICE, &id), find, "Falcon Dairy\n").await;
    assert_eq!(gateway.get(&ALICE, "/upstreams/crm").await["command"], Value::Null);
    // A team that manages it does not change what runs.
    let team = json!({"team_id": "team-a"});
    gateway.ask(&ADMIN, "PUT /upstreams/crm", team, 200).await;
    gateway
        .check_refused(&ANA, "PUT /upstreams/crm", json!({"tags": ["x"]}), (403, "unrestricted"))
        .await;
    let gateway = gateway.restart().await;
    gateway.check((&ALICE, &id), find, "Falcon Dairy\n").await;
    // Without the consent, what is stored no longer runs.
    let gateway = gateway.restart_with("XDG_CONFIG_HOME", "/nowhere").await;
    let read = gateway.get(&ADMIN, "/upstreams/crm").await;
    assert_eq!(read["health"]["state"], "failed", "{read}");
    assert!(read["health"]["lastError"].to_string().contains("command_upstreams"), "{read}");
    let ran = gateway.sh(&ALICE, &id, find).await;
    assert!(ran.is_error(), "{ran:?}");
}

#[tokio::test]
async fn the_cases_of_upstream_servers_hold_on_postgres() {
    let postgres = PostgresServer::start().unwrap();
    let url = postgres.make("gateway").unwrap();
    let start = || Gateway::start(installation().env("CODEYARD_DATABASE_URL", &url));
    let one = start().await;
    lifecycle(&one).await;
    s0_82(&one).await;
    // A second process follows the changes of the first.
    let other = start().await;
    let token = one.token(&ADMIN).await;
    let remote = remote(&one).await;
    one.ask(&ADMIN, "POST /upstreams", body("far", &remote, &json!({"tags": ["geo"]})), 201)
        .await;
    let there = other.rest_with(Some(&token), "GET /upstreams/far", b"").await;
    assert_eq!(there.status, 200, "{}", there.text());
    let often = json!({"sandbox_policy": {"max_runs_per_minute": 1000}});
    let id = one.make(&ADMIN, code("often", &often)).await;
    other.check((&ALICE, &id), &add("far"), "5\n").await;
    one.ask(&ADMIN, "DELETE /upstreams/far", Value::Null, 200).await;
    let ended = loop {
        let ran = other.sh(&ALICE, &id, &add("far")).await;
        if ran.is_error() {
            break ran;
        }
    };
    assert!(ended.error().contains("is not mounted"), "{ended:?}");
}
