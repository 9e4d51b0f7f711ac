//! The audit of administrative changes: a row for each, a chain that reveals tampering, and exports.

use identity::Route;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::actors::{ADMIN, ALICE, ANA, Actor, BOB, VIC};
use super::running::Gateway;
use crate::http::served::{self, Response};

const AUDITOR: Actor = Actor {
    email: "auditor@example.com",
    role: "platform_viewer",
    teams: &[],
};

/// A prepared request of a route.
struct Request {
    /// Requests that ADMIN sends first.
    first: Vec<(String, Value)>,
    request: String,
    body: Value,
}

/// A request that a platform admin may send. Add a request here for each new audited route.
fn request(route: Route, name: &str) -> Request {
    let email = format!("{name}@example.com");
    let server = ("POST /servers".to_owned(), json!({"id": name, "name": name}));
    let upstream = json!({"name": name, "url": "https://upstream.example.com/mcp"});
    let upstream = ("POST /upstreams".to_owned(), upstream);
    let with_logins = json!({"name": name, "url": "https://upstream.example.com/mcp", "login": "user"});
    let with_logins = ("POST /upstreams".to_owned(), with_logins);
    let key = (format!("PUT /logins/{name}"), json!({"key": "s3cret"}));
    let user = ("POST /users".to_owned(), json!({"user": email, "role": "viewer"}));
    let team = ("POST /teams".to_owned(), json!({"id": name, "name": name}));
    let member = (
        format!("PUT /teams/{name}/members/{email}"),
        json!({"role": "viewer"}),
    );
    let (first, body) = match route {
        Route::CreateServer => (vec![], server.1),
        Route::UpdateServer => (vec![server], json!({"tags": ["changed"]})),
        Route::DeleteServer => (vec![server], Value::Null),
        Route::CreateUpstream => (vec![], upstream.1),
        Route::UpdateUpstream => (vec![upstream], json!({"tags": ["changed"]})),
        Route::DeleteUpstream => (vec![upstream], Value::Null),
        Route::CreateToken => (vec![], json!({"role": "viewer", "name": name})),
        Route::RevokeToken => (vec![], Value::Null),
        Route::CreateUser => (vec![], user.1),
        Route::UpdateUser => (vec![user], json!({"disabled": true})),
        Route::DeleteUser => (vec![user], Value::Null),
        Route::CreateTeam => (vec![], team.1),
        Route::UpdateTeam => (vec![team], json!({"name": "renamed"})),
        Route::DeleteTeam => (vec![team], Value::Null),
        Route::SetMember => (vec![user, team], member.1),
        Route::SetLogin => (vec![with_logins], key.1),
        Route::RevokeLogin => (vec![with_logins, key], Value::Null),
        Route::RemoveMember => (vec![user, team, member], Value::Null),
        other => panic!("{other} needs a request in this test"),
    };
    let path = route.path();
    let path = path
        .replace("{id}", name)
        .replace("{name}", name)
        .replace("{email}", &email);
    Request {
        first,
        request: format!("{} {path}", route.method()),
        body,
    }
}

/// The rows of a user, newest first.
async fn rows(gateway: &Gateway, actor: &Actor) -> Vec<Value> {
    let path = format!("/audit?limit=500&user={}", actor.email);
    let rows = gateway.get(&ADMIN, &path).await;
    rows.as_array().unwrap().clone()
}

/// The single row that a request adds.
async fn added(gateway: &Gateway, actor: &Actor, request: &str, body: Value) -> (u16, Value) {
    let before = rows(gateway, actor).await.len();
    let answer = gateway.rest(actor, request, body).await;
    let after = rows(gateway, actor).await;
    assert_eq!(
        after.len(),
        before + 1,
        "{request} {}: {} {after:?}",
        actor.email,
        answer.text()
    );
    (answer.status, after[0].clone())
}

pub async fn routes(gateway: &Gateway) {
    // An issuer signs out, not a user; a sign-out has tests of its own.
    let by_users = |route: &&Route| route.audited().is_some() && **route != Route::BackChannelLogout;
    for route in Route::ALL.iter().filter(by_users) {
        let name = gateway.name("audited");
        let mut asked = request(*route, &name);
        for (request, body) in &asked.first {
            let answer = gateway.rest(&ADMIN, request, body.clone()).await;
            assert!(answer.status < 300, "{request}: {}", answer.text());
        }
        let mut id = name.clone();
        if *route == Route::RevokeToken {
            let body = json!({"role": "viewer"});
            let made = gateway.ask(&ADMIN, "POST /tokens", body, 201).await;
            id = made["details"]["id"].as_str().unwrap().to_owned();
            asked.request = asked.request.replace(&name, &id);
        }
        let action = route.audited().unwrap();
        let check = |row: &Value, outcome: &str, actor: &Actor| {
            let expected = [action.name(), action.object(), outcome, actor.email];
            let found = ["action", "object", "outcome", "actor"].map(|field| row[field].as_str().unwrap());
            assert_eq!(found, expected, "{route}: {row}");
        };
        // First as a viewer, while the object exists.
        let (status, row) = added(gateway, &VIC, &asked.request, asked.body.clone()).await;
        assert!(status == 403 || status == 404, "{route}: {status}");
        check(&row, &status.to_string(), &VIC);
        let (status, row) = added(gateway, &ADMIN, &asked.request, asked.body.clone()).await;
        assert!(status < 300, "{route}: {status}");
        check(&row, "done", &ADMIN);
        if *route != Route::CreateToken {
            assert!(row["object_id"].as_str().unwrap().contains(&id), "{route}: {row}");
        }
        assert_eq!(row["token_id"].as_str().map(str::len), Some(24), "{row}");
    }
    let verified = gateway.command(&["audit", "verify"]).await;
    assert_eq!(verified.code, 0, "{verified:?}");
}

/// Changes things at both gateways at the same time.
pub async fn both(one: &Gateway, other: &Gateway) {
    let make = async |gateway: &Gateway, begin: &str| {
        for number in 0..20 {
            let id = format!("{begin}-{number}");
            let body = json!({"id": id, "name": id});
            gateway.ask(&ADMIN, "POST /teams", body, 201).await;
            let body = json!({"id": id, "name": id});
            gateway.ask(&ADMIN, "POST /teams", body, 409).await;
        }
    };
    // A single command creates the token.
    one.token(&ADMIN).await;
    tokio::join!(make(one, "left"), make(other, "right"));
    let verified = one.command(&["audit", "verify", "--json"]).await;
    assert_eq!(verified.code, 0, "{verified:?}");
    let rows = one.get(&ADMIN, "/audit?action=team.create&limit=500").await;
    let with = |outcome: &str| {
        let rows = rows.as_array().unwrap().iter();
        rows.filter(|row| row["outcome"] == outcome && row["actor"] == ADMIN.email)
            .count()
    };
    assert_eq!((with("done"), with("409")), (40, 40));
}

#[tokio::test]
async fn each_changing_route_leaves_one_row_for_a_change_and_for_a_refusal() {
    routes(&Gateway::with_stub().await).await;
}

#[tokio::test]
async fn refusals_are_recorded_without_secrets() {
    let gateway = Gateway::with_stub().await;
    let secret = gateway.new_token(&ANA, &[]).await;
    let digits = secret.strip_prefix("cyd_").unwrap();
    gateway.cs_p().await;
    gateway
        .ask(
            &ADMIN,
            "POST /teams",
            json!({"id": "there", "name": "There"}),
            201,
        )
        .await;
    for (request, body, status, detail) in [
        (
            "POST /teams".to_owned(),
            json!({"id": "there", "name": "x"}),
            409,
            "team 'there' exists already",
        ),
        (
            "POST /servers".to_owned(),
            json!({"name": &secret, "visibility": &secret}),
            422,
            "wrong: visibility",
        ),
        (
            "POST /servers".to_owned(),
            json!({"name": "x", secret.clone(): 1}),
            422,
            "wrong: an unknown key",
        ),
        (
            "POST /users".to_owned(),
            json!({"user": secret.as_str(), "role": "viewer"}),
            422,
            "wrong: user",
        ),
        (format!("DELETE /tokens/{secret}"), Value::Null, 404, ""),
        (format!("DELETE /teams/{secret}"), Value::Null, 404, ""),
        (format!("PUT /servers/{secret}"), json!({}), 404, ""),
    ] {
        let (found, row) = added(&gateway, &ADMIN, &request, body).await;
        assert_eq!(
            (found, row["detail"].as_str()),
            (status, Some(detail)),
            "{request}: {row}"
        );
        assert_eq!(row["outcome"], json!(status.to_string()), "{request}");
    }
    // A name that looks like a token is cut, and so is the rest of the row.
    let made = json!({"name": &secret, "visibility": "public"});
    gateway.make(&ADMIN, made).await;
    let token = gateway.token(&ADMIN).await;
    let before = rows(&gateway, &ADMIN).await.len();
    for (token, request, body) in [
        // Neither requests without a valid token nor reads add a row.
        (None, "POST /teams", "{}"),
        (Some(secret.replace(digits, &"0".repeat(64))), "POST /teams", "{}"),
        (Some(token), "GET /teams/none", ""),
    ] {
        let answer = gateway
            .rest_with(token.as_deref(), request, body.as_bytes())
            .await;
        assert!(matches!(answer.status, 401 | 404), "{request}: {}", answer.text());
    }
    assert_eq!(rows(&gateway, &ADMIN).await.len(), before);
    let refused = gateway
        .command(&["user", "create", ADMIN.email, "--role", "viewer"])
        .await;
    assert_eq!(refused.code, 2, "{refused:?}");
    let refused = gateway.command(&["token", "revoke", &secret]).await;
    assert_eq!(refused.code, 1, "{refused:?}");
    let listed = gateway
        .command(&[
            "audit",
            "list",
            "--user",
            "command-line",
            "--json",
            "--limit",
            "2",
        ])
        .await;
    let lines: Vec<Value> = listed
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<(&str, &str)> = lines
        .iter()
        .map(|row| (row["action"].as_str().unwrap(), row["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("token.revoke", "refused"), ("user.create", "refused")]);
    let all = gateway.command(&["audit", "list", "--csv"]).await;
    let rest = gateway.get(&ADMIN, "/audit?limit=500").await.to_string();
    for text in [&all.out, &rest, &listed.out] {
        assert!(text.contains("token.revoke") && !text.contains(digits), "{text}");
    }
}

#[tokio::test]
async fn a_flood_of_refusals_is_bounded() {
    let gateway = Gateway::with_stub().await;
    let (mut status, mut count) = (403, 0);
    while status == 403 {
        status = gateway.rest(&VIC, "POST /teams", json!({"id": "x"})).await.status;
        count += 1;
        assert!(count <= 61, "no bound");
    }
    assert_eq!((status, count), (429, 61));
    assert_eq!(rows(&gateway, &VIC).await.len(), 60);
    // Allowed requests and other users are not affected.
    gateway.get(&VIC, "/servers").await;
    added(&gateway, &ALICE, "POST /teams", json!({"id": "x"})).await;
}

#[tokio::test]
async fn only_platform_admins_and_viewers_read_the_table() {
    let gateway = Gateway::with_stub().await;
    gateway.get(&AUDITOR, "/audit").await;
    for actor in [&ANA, &ALICE, &VIC] {
        let required = (403, "Required: audit.read");
        gateway
            .check_refused(actor, "GET /audit", Value::Null, required)
            .await;
    }
    let first = gateway.get(&AUDITOR, "/audit?action=user.create").await;
    let oldest = first.as_array().unwrap().last().unwrap();
    let zeros = "0".repeat(64);
    assert_eq!(
        (&oldest["sequence"], &oldest["previous"]),
        (&json!(1), &json!(zeros))
    );
    for (query, wrong) in [
        ("action=user.creat", "did you mean \\\"user.create\\\""),
        ("format=cvs", "did you mean \\\"csv\\\""),
        ("format=csv&limit=5", "an export has all entries"),
        ("users=x", "did you mean `user`"),
        ("cursor=eDp4", "is not a cursor"),
    ] {
        let request = format!("GET /audit?{query}");
        gateway
            .check_refused(&AUDITOR, &request, Value::Null, (422, wrong))
            .await;
    }
}

#[tokio::test]
async fn tampering_behind_the_gateway_s_back_has_an_exit_code() {
    let gateway = Gateway::with_stub().await;
    for number in 0..4 {
        let body = json!({"id": format!("t{number}"), "name": "x"});
        gateway.ask(&ADMIN, "POST /teams", body, 201).await;
    }
    let verified = gateway.command(&["audit", "verify", "--json"]).await;
    let head = verified.json()["head"].as_str().unwrap().to_owned();
    let plain = gateway.command(&["audit", "verify", "--expect", &head]).await;
    assert_eq!(
        (plain.code, plain.out.trim()),
        (0, format!("6 rows, head {head}").as_str())
    );
    let database = gateway.codeyard.data_directory().join("codeyard.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database);
    let mut connection = options.connect().await.unwrap();
    let mut change = async |sql: &str| {
        let sql = AssertSqlSafe(sql.to_owned());
        sqlx::query(sql).execute(&mut connection).await.unwrap();
    };
    change("UPDATE audit SET object_id = 'other' WHERE sequence = 4").await;
    let found = gateway.command(&["audit", "verify"]).await;
    assert!(
        found.code == 6 && found.err.contains("row 4 was changed"),
        "{found:?}"
    );
    change("UPDATE audit SET object_id = 't1' WHERE sequence = 4").await;
    assert_eq!(gateway.command(&["audit", "verify"]).await.code, 0);
    change("DELETE FROM audit WHERE sequence = 6").await;
    change("UPDATE audit_head SET sequence = 5, hash = (SELECT hash FROM audit WHERE sequence = 5)").await;
    assert_eq!(gateway.command(&["audit", "verify"]).await.code, 0);
    let found = gateway.command(&["audit", "verify", "--expect", &head]).await;
    assert!(
        found.code == 6 && found.err.contains("the chain ends with row 5, but had 6 rows"),
        "{found:?}"
    );
    connection.close().await.unwrap();
    let wrong = gateway.command(&["audit", "verify", "--expect", "6"]).await;
    assert!(
        wrong.code == 2 && wrong.err.contains("SEQUENCE:HASH"),
        "{wrong:?}"
    );
}

/// The whole list, page by page.
async fn paged(gateway: &Gateway, actor: &Actor, path: &str) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let request = format!("GET {path}limit=100{cursor}");
        let page = gateway.rest(actor, &request, Value::Null).await;
        all.extend(page.json().as_array().unwrap().clone());
        match page.header("x-next-cursor") {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

/// The body of an answer that was streamed.
fn sent(answer: &Response) -> String {
    assert_eq!(
        answer.header("transfer-encoding"),
        Some("chunked"),
        "{}",
        answer.text()
    );
    let (mut body, mut rest) = (String::new(), answer.text());
    loop {
        let (length, chunks) = rest.split_once("\r\n").expect("a chunk");
        let length = usize::from_str_radix(length, 16).expect("a length");
        if length == 0 {
            return body;
        }
        body.push_str(&chunks[..length]);
        rest = chunks[length..].strip_prefix("\r\n").expect("the end of a chunk");
    }
}

/// The list as JSON lines and as CSV, as a user downloads them.
async fn exported(gateway: &Gateway, actor: &Actor, path: &str) -> (Vec<Value>, Vec<csv::StringRecord>) {
    let lines = gateway
        .rest(actor, &format!("GET {path}format=jsonl"), Value::Null)
        .await;
    assert_eq!(
        lines.header("content-type"),
        Some("application/x-ndjson"),
        "{}",
        lines.text()
    );
    let entries = sent(&lines);
    let entries = entries
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let table = gateway
        .rest(actor, &format!("GET {path}format=csv"), Value::Null)
        .await;
    assert!(
        table.header("content-type").unwrap().starts_with("text/csv"),
        "{}",
        table.text()
    );
    let text = sent(&table);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut records = vec![reader.headers().unwrap().clone()];
    records.extend(reader.records().map(Result::unwrap));
    (entries, records)
}

/// Checks that the export has the entries of the list, in order.
async fn same(gateway: &Gateway, actor: &Actor, path: &str) -> Vec<Value> {
    let listed = paged(gateway, actor, path).await;
    let (entries, records) = exported(gateway, actor, path).await;
    assert_eq!(entries, listed, "{path}");
    assert_eq!(records.len(), listed.len() + 1, "{path}");
    let names = records[0].clone();
    for (record, entry) in records[1..].iter().zip(&listed) {
        let objects = [Some(entry), entry.get("metrics")];
        let fields = objects
            .iter()
            .flatten()
            .flat_map(|object| object.as_object().unwrap().keys());
        for field in fields.filter(|field| !["metrics", "run_id"].contains(&field.as_str())) {
            assert!(
                names.iter().any(|name| name == field),
                "{path}: no column {field}"
            );
        }
        for (name, cell) in names.iter().zip(record) {
            let value = entry.get(name).unwrap_or(&entry["metrics"][name]);
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let text = if value.is_null() { String::new() } else { text };
            assert_eq!(cell.strip_prefix('\'').unwrap_or(cell), text, "{path} {name}");
        }
    }
    listed
}

pub async fn exports(gateway: &Gateway) {
    let id = gateway
        .cs_a(&json!({"sandbox_policy": {"permissions": {"tools": {"deny": ["stub/*"]}}}}))
        .await;
    let call = "try:\n    await tools.stub.add(a=1, b=2)\nexcept Exception: pass";
    for actor in [&ALICE, &ANA] {
        gateway.sh(actor, &id, "print(1)").await;
        gateway.sh(actor, &id, call).await;
    }
    let path = |list: &str| format!("/servers/{id}/code/{list}?");
    assert_eq!(same(gateway, &ANA, &path("runs")).await.len(), 4);
    assert_eq!(same(gateway, &ALICE, &path("runs")).await.len(), 2);
    let completed = format!("{}status=completed&", path("runs"));
    assert!(!same(gateway, &ANA, &completed).await.is_empty());
    let events = same(gateway, &ANA, &path("security-events")).await;
    assert!(!events.is_empty());
    let own = same(gateway, &ALICE, &path("security-events")).await;
    assert!(own.len() < events.len());
    let of_none = format!("{}user=nobody@example.com&", path("runs"));
    assert!(same(gateway, &ANA, &of_none).await.is_empty());
    let foreign = format!("GET {}format=csv", path("runs"));
    let hidden = (404, "code_execution server not found");
    gateway.check_refused(&BOB, &foreign, Value::Null, hidden).await;
    // More rows than an export reads per query.
    let team = gateway.name("exported");
    let body = json!({"id": team, "name": "x"});
    gateway.ask(&ADMIN, "POST /teams", body, 201).await;
    for number in 0..210 {
        let body = json!({"name": format!("=1+{number}")});
        gateway
            .ask(&ADMIN, &format!("PUT /teams/{team}"), body, 200)
            .await;
    }
    let rows = same(gateway, &ADMIN, "/audit?").await;
    assert!(rows.len() > 210);
    let filtered = format!("/audit?action=team.update&user={}&", ADMIN.email);
    same(gateway, &ADMIN, &filtered).await;
    let (_, records) = exported(gateway, &ADMIN, &filtered).await;
    assert!(
        records[1].iter().any(|cell| cell == "'=1+209"),
        "{:?}",
        records[1]
    );
}

#[tokio::test]
async fn exports_have_the_entries_of_the_lists() {
    let gateway = Gateway::with_stub().await;
    exports(&gateway).await;
    // The `Accept` header selects the format like the parameter.
    let bearer = format!("Bearer {}", gateway.token(&ADMIN).await);
    for (accept, content_type) in [
        ("text/csv", "text/csv; charset=utf-8; header=present"),
        ("application/x-ndjson", "application/x-ndjson"),
        ("text/html", "application/json"),
    ] {
        let headers = [("authorization", bearer.as_str()), ("accept", accept)];
        let answer = served::send(&gateway.address, ("GET", "/audit"), &headers, b"").await;
        let answer = answer.whole().await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some(content_type))
        );
    }
    let csv = gateway.command(&["audit", "list", "--csv"]).await;
    let rest = gateway.rest(&ADMIN, "GET /audit?format=csv", Value::Null).await;
    assert_eq!(csv.out, sent(&rest));
}
