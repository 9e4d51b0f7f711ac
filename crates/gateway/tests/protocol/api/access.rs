//! Every route with and without its token and permission; paths and methods without a row.

use identity::{Permission, Route, RouteAccess};
use serde_json::{Value, json};

use super::fake::{Gateway, all_but};
use super::http_client::{Answer, Ask};

/// The route with a value for each parameter.
fn path(route: Route) -> String {
    let segments = route.path().split('/').map(|segment| match segment {
        "{id}" => "s1",
        segment if segment.starts_with('{') => "x",
        segment => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}

fn ask(route: Route) -> Ask {
    Ask::new(route.method().name(), path(route))
}

async fn check(answer: Answer, status: u16, detail: &str) {
    assert_eq!(
        answer.header("content-type"),
        Some("application/json"),
        "{detail}"
    );
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let found = (answer.status, answer.json().await);
    assert_eq!(found, (status, json!({"detail": detail})));
}

// C014
#[tokio::test]
async fn every_route_asks_for_its_token_and_its_permission() {
    let gateway = Gateway::start().await;
    gateway.api.metrics.add_permits(1);
    for route in Route::ALL {
        if route.access() == RouteAccess::Anyone {
            // Without an issuer, nothing answers for one. No login is under way. A report without a token is refused, and
            // so is a form that no browser sends.
            let expected = match route {
                Route::ResourceMetadata | Route::McpResourceMetadata | Route::SseResourceMetadata => 404,
                Route::LoginLink | Route::LoginCallback => 404,
                Route::BackChannelLogout | Route::LoginStart => 400,
                _ => 200,
            };
            assert_eq!(gateway.send(ask(*route)).await.status, expected, "{route}");
            continue;
        }
        for wrong in [
            ask(*route),
            ask(*route).token("eve"),
            ask(*route).token("ann").token("ann"),
            ask(*route).header("authorization", "Basic ann"),
            ask(*route).header("authorization", "Bearer"),
        ] {
            let answer = gateway.send(wrong).await;
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{route}");
            check(answer, 401, "Not authenticated").await;
        }
        if let RouteAccess::Needs(permission) = route.access() {
            let token = format!("without {permission}").replace(' ', "-");
            gateway
                .api
                .admit_with(&token, "carl@example.com", None, all_but(permission));
            let expected = format!("Insufficient permissions. Required: {permission}");
            check(gateway.send(ask(*route).token(&token)).await, 403, &expected).await;
        }
        assert!(
            !gateway
                .api
                .requests
                .borrow()
                .iter()
                .any(|seen| seen.route == *route)
        );
        let answer = gateway.send(ask(*route).token("ann")).await;
        assert!(
            ![401, 403, 405].contains(&answer.status),
            "{route}: {}",
            answer.status
        );
    }
}

#[tokio::test]
async fn paths_and_methods_without_a_row_are_refused() {
    let gateway = Gateway::start().await;
    for path in [
        "/",
        "/servers/",
        "/Servers",
        "/servers/s1/mcp/x",
        "/servers/s1/../s1",
        "//servers",
        "/mcp",
        "/servers//mcp",
    ] {
        let answer = gateway.send(Ask::new("GET", path).token("ann")).await;
        check(answer, 404, "unknown path; `/openapi.json` lists the paths").await;
    }
    for (method, path, allowed) in [
        ("PUT", "/servers", "GET, POST"),
        ("PATCH", "/servers/s1", "GET, PUT, DELETE"),
        ("PUT", "/servers/s1/mcp", "POST, GET, DELETE"),
        ("OPTIONS", "/rpc", "POST"),
        ("GET", "/rpc", "POST"),
        ("BREW", "/healthz", "GET"),
    ] {
        let answer = gateway.send(Ask::new(method, path)).await;
        assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
        check(answer, 405, &format!("the path takes {allowed}")).await;
    }
    let answer = gateway.send(Ask::new("HEAD", "/healthz")).await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("GET")));
}

#[tokio::test]
async fn pages_of_other_sites_are_refused_first() {
    let gateway = Gateway::start().await;
    for path in ["/servers", "/healthz", "/nowhere"] {
        let ask = || Ask::new("GET", path).token("ann");
        let host = gateway.send(ask().header("host", "evil.example.com")).await;
        check(host, 403, "`Host` is not an address of this server").await;
        let origin = gateway
            .send(ask().header("origin", "https://evil.example.com"))
            .await;
        check(origin, 403, "`Origin` is not an address of this server").await;
    }
}

#[tokio::test]
async fn a_request_arrives_with_its_parameters_and_an_answer_with_its_type() {
    let gateway = Gateway::start().await;
    let body = json!({"a": 1});
    let put = Ask::new("PUT", "/teams/a%2Fb/members/ann%40example.com?x=%20&y")
        .token("ann")
        .json(&body);
    let answer = gateway.send(put).await;
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(
        answer.json().await,
        json!({"route": "PUT /teams/{id}/members/{email}"})
    );
    let seen = gateway.api.asked().await;
    assert_eq!(seen.parameter("id"), "a/b");
    assert_eq!(seen.parameter("email"), "ann@example.com");
    assert_eq!((seen.parameter("run"), seen.query.as_str()), ("", "x=%20&y"));
    assert_eq!(serde_json::from_slice::<Value>(&seen.body).unwrap(), body);
    let caller = seen.identity.unwrap();
    assert_eq!(caller.principal().to_string(), "acme/ann@example.com");

    let docs = gateway.send(Ask::new("GET", "/docs")).await;
    assert_eq!(docs.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(
        docs.header("content-security-policy"),
        Some("frame-ancestors 'none'")
    );
    assert_eq!(docs.text().await, "<p>docs</p>");
    assert_eq!(gateway.api.asked().await.identity, None);
    let deleted = gateway.send(Ask::new("DELETE", "/servers/s1").token("ann")).await;
    assert_eq!((deleted.status, deleted.header("content-type")), (204, None));
    let limited = gateway.send(Ask::new("GET", "/users").token("ann")).await;
    assert_eq!(limited.header("retry-after"), Some("7"));
    check(limited, 429, "slow down").await;
    let broken = gateway.send(Ask::new("GET", "/servers/%ff").token("ann")).await;
    assert_eq!(broken.status, 400);
}

#[tokio::test]
async fn a_silent_database_is_503_and_the_process_is_healthy() {
    let gateway = Gateway::start().await;
    assert_eq!(gateway.send(Ask::new("GET", "/readyz")).await.status, 200);
    gateway.api.set_down(true);
    for ask in [
        Ask::new("GET", "/readyz"),
        Ask::new("GET", "/servers").token("ann"),
        Ask::new("GET", "/servers/s1/mcp").token("ann"),
    ] {
        let answer = gateway.send(ask).await;
        assert_eq!(answer.header("retry-after"), Some("1"));
        check(answer, 503, "the database does not answer").await;
    }
    let healthy = gateway.send(Ask::new("GET", "/healthz")).await;
    assert_eq!((healthy.status, healthy.text().await.as_str()), (200, "ok\n"));
}

#[tokio::test]
async fn an_unneeded_scope_is_not_required() {
    let gateway = Gateway::start().await;
    let only = [Permission::ServersUse].into_iter().collect();
    gateway.api.admit_with("use", "carl@example.com", None, only);
    let rpc = Ask::new("POST", "/rpc").token("use").json(&json!({}));
    assert_eq!(gateway.send(rpc).await.status, 200);
    let description = Ask::new("GET", "/openapi.json").token("use");
    assert_eq!(gateway.send(description).await.status, 200);
}

#[tokio::test]
async fn every_response_is_counted_with_its_route_and_status() {
    let gateway = Gateway::start().await;
    for ask in [
        Ask::new("GET", "/healthz"),
        Ask::new("GET", "/servers/s1"),
        Ask::new("GET", "/servers/s2").token("ann"),
        Ask::new("GET", "/servers/s1/mcp"),
        Ask::new("POST", "/servers/s1"),
        Ask::new("GET", "/none"),
    ] {
        gateway.send(ask).await;
    }
    let told = [
        (Some(Route::Health), 200),
        (Some(Route::ReadServer), 401),
        (Some(Route::ReadServer), 200),
        (Some(Route::McpStream), 401),
        (None, 405),
        (None, 404),
    ];
    assert_eq!(*gateway.api.answered.lock().unwrap(), told);
}

#[tokio::test]
async fn refusals_at_audited_routes_are_recorded_before_they_are_sent() {
    let gateway = Gateway::start().await;
    let scopes = [Permission::ServersRead].into_iter().collect();
    gateway.api.admit_with("reader", "reader", None, scopes);
    for (method, path, token, status) in [
        ("DELETE", "/servers/s1", Some("reader"), 403),
        ("PUT", "/teams/a", Some("reader"), 403),
        ("GET", "/users", Some("ann"), 429),
        ("POST", "/servers", None, 401),
        ("POST", "/servers", Some("none"), 401),
        ("POST", "/rpc", Some("reader"), 403),
    ] {
        let ask = Ask::new(method, path);
        let ask = token.into_iter().fold(ask, Ask::token);
        assert_eq!(gateway.send(ask).await.status, status, "{method} {path}");
    }
    let told = gateway.api.refused.lock().unwrap().clone();
    let expected = [(Route::DeleteServer, "s1", 403), (Route::UpdateTeam, "a", 403)];
    assert_eq!(
        told,
        expected.map(|(route, id, status)| (route, id.to_owned(), status))
    );
}
