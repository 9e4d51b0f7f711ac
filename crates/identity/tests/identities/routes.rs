//! The table of routes, for every role.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use identity::{
    AuditAction, Identity, Method, Permission, PermissionSet, Role, Route, RouteAccess, RouteRefusal,
};

use crate::people::Person;

fn identity(role: Role) -> Identity {
    Person::new("ann", role, &[]).identity()
}

// C168, S0-81
#[test]
fn the_table_changes_only_on_purpose() {
    let mut table = String::new();
    let mut line = |route: &str, access: &str, marks: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{route:<62} {access:<16} {marks}");
    };
    let names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
    line("", "", &names.join(" "));
    for route in Route::ALL {
        let mark = |role: &Role| {
            let mark = if route.admit(Some(&identity(*role))).is_ok() {
                "x"
            } else {
                "-"
            };
            format!("{mark:<width$}", width = role.name().len())
        };
        let marks: Vec<String> = Role::ALL.iter().map(mark).collect();
        let name = format!("{:<6} {}", route.method(), route.path());
        line(&name, &route.access().to_string(), marks.join(" ").trim_end());
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_route_requires_its_permission_of_every_role() {
    for route in Route::ALL {
        for role in Role::ALL {
            let one = identity(*role);
            let expected = match route.access() {
                RouteAccess::Anyone | RouteAccess::AnyToken => None,
                RouteAccess::Needs(permission) if role.permissions().contains(permission) => None,
                RouteAccess::Needs(permission) => {
                    Some(format!("Insufficient permissions. Required: {permission}"))
                }
            };
            let told = route.admit(Some(&one)).err().map(|error| error.to_string());
            assert_eq!(told, expected, "{route} as {role}");
        }
    }
}

// C014
#[test]
fn c014_without_a_token_only_routes_without_user_data_are_open() {
    let open: Vec<&str> = Route::ALL
        .iter()
        .filter(|route| route.admit(None).is_ok())
        .map(|route| route.path())
        .collect();
    let expected = [
        "/healthz",
        "/readyz",
        "/docs",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/servers/{id}/mcp",
        "/.well-known/oauth-protected-resource/servers/{id}/sse",
        "/sign-on/logout",
        // Secrets of 256 bits and the user's token in a form decide.
        "/logins/link/{secret}",
        "/logins/link/{secret}",
        "/logins/callback",
    ];
    assert_eq!(open, expected);
    assert_eq!(Route::ListServers.admit(None), Err(RouteRefusal::NoToken));
}

#[test]
fn a_scope_limits_every_route() {
    for permission in Permission::ALL {
        let one = Person::new("ann", Role::PlatformAdmin, &[])
            .scoped(permission.name())
            .identity();
        for route in Route::ALL {
            let expected = match route.access() {
                RouteAccess::Anyone | RouteAccess::AnyToken => true,
                RouteAccess::Needs(needed) => needed == *permission,
            };
            assert_eq!(
                route.admit(Some(&one)).is_ok(),
                expected,
                "{route} with {permission}"
            );
        }
    }
}

#[test]
fn routes_differ_and_cover_every_permission_except_skills() {
    let places: BTreeSet<String> = Route::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(places.len(), Route::ALL.len());
    // The router requires one name for a parameter at the same place of two routes.
    let mut parameters: BTreeSet<(String, &str)> = BTreeSet::new();
    for route in Route::ALL {
        let path = route.path();
        for (at, _) in path.match_indices('{') {
            let name = path[at..].split('/').next().expect("a segment");
            assert!(name.ends_with('}'), "{path}");
            parameters.insert((path[..at].to_owned(), name));
        }
    }
    let before: BTreeSet<&String> = parameters.iter().map(|(before, _)| before).collect();
    assert_eq!(before.len(), parameters.len(), "{parameters:?}");
    let needed = Route::ALL.iter().filter_map(|route| match route.access() {
        RouteAccess::Needs(permission) => Some(permission),
        _ => None,
    });
    let unused = PermissionSet::ALL.without(needed.collect());
    assert_eq!(
        unused.to_string(),
        "skills.create skills.read skills.approve skills.revoke"
    );
}

#[test]
fn every_route_that_changes_something_is_an_audited_act_or_only_uses_a_server() {
    let runs = [
        Route::Rpc,
        Route::McpMessage,
        Route::McpEnd,
        Route::SseMessage,
        Route::TestUpstream,
        Route::ReplayRun,
        // The row is written when the login is stored.
        Route::LoginStart,
    ];
    let mut actions = BTreeSet::new();
    for route in Route::ALL {
        let changes = route.method() != Method::Get && !runs.contains(route);
        assert_eq!(route.audited().is_some(), changes, "{route}");
        actions.extend(route.audited());
    }
    assert_eq!(actions, AuditAction::ALL.iter().copied().collect());
}
