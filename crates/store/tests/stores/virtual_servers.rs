//! Virtual servers through `VirtualServers`: round trip, unique names and ids, isolated tenants.

use store::virtual_servers::{ServerCursor, ServerFilter, ServerViewer, VirtualServerError};
use store::{Database, VirtualServers};
use types::{
    CodeSettings, CodeSurface, FileGlobs, Language, MountRules, PersonalData, PolicyNumber, Runtime,
    SandboxPolicy, ServerId, ServerKind, ServerSettings, TeamId, TenantId, Tokenization, ToolGlobs, UserId,
    VirtualServer, Visibility, Written,
};

use crate::places::{Place, actor, in_each};

fn servers(database: &Database) -> VirtualServers {
    VirtualServers::new(database.clone())
}

fn acme() -> TenantId {
    TenantId::new("acme")
}

fn id(text: &str) -> ServerId {
    ServerId::new(text)
}

/// A public server of Ann's, named like its id.
pub fn server(text: &str) -> VirtualServer {
    VirtualServer {
        id: id(text),
        tenant: acme(),
        owner: UserId::new("ann@example.com"),
        created_ms: 1000,
        updated_ms: 1000,
        settings: ServerSettings {
            name: text.to_owned(),
            description: None,
            kind: ServerKind::Standard,
            tags: Vec::new(),
            visibility: Visibility::Public,
            team: None,
            icon: None,
        },
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A server on which every setting differs from its default.
pub fn full(text: &str) -> VirtualServer {
    let mut policy = SandboxPolicy::default();
    policy.runtime = Runtime::Python;
    policy.allow_raw_http = true;
    policy.allow_tool_calls = false;
    policy.files = FileGlobs {
        read: words(&["/scratch/**"]),
        write: words(&[]),
        deny: words(&["/tools/x"]),
    };
    policy.tools = ToolGlobs {
        allow: words(&["crm/*"]),
        deny: words(&["crm/delete"]),
    };
    policy
        .set_number(PolicyNumber::MaxRunsPerMinute, Written::Whole(7))
        .expect("a number");
    let mut rules = MountRules::default();
    for (name, list) in MountRules::NAMES.into_iter().zip(rules.lists_mut()) {
        *list = words(&[name, "\u{e4}\"'\\"]);
    }
    let code = CodeSettings {
        surface: CodeSurface::Bridge,
        stub_language: Language::Python,
        mount_rules: Some(rules),
        sandbox_policy: Some(policy),
        tokenization: Some(Tokenization {
            enabled: true,
            types: vec![PersonalData::Ssn, PersonalData::Email],
        }),
        skills_scope: Some("team:platform-eng".parse().expect("a scope")),
        skills_require_approval: true,
    };
    VirtualServer {
        updated_ms: 2000,
        settings: ServerSettings {
            name: format!("The \u{1f980} {text}"),
            description: Some("line\nline".to_owned()),
            kind: ServerKind::CodeExecution(Box::new(code)),
            tags: words(&["b", "a", "x\"a\",\"y"]),
            visibility: Visibility::Team,
            team: Some(TeamId::new("team-a")),
            icon: Some("data:image/png;base64,AA==".to_owned()),
        },
        ..server(text)
    }
}

fn said<T: std::fmt::Debug>(done: Result<T, VirtualServerError>) -> String {
    done.map_or_else(|error| error.to_string(), |_| "ok".to_owned())
}

#[tokio::test]
async fn reading_creates_no_database() {
    let place = Place::file();
    let servers = servers(&place.database);
    assert_eq!(servers.read(&acme(), &id("a")).await, Ok(None));
    let all = ServerFilter::new(ServerViewer::All, 10);
    assert_eq!(servers.list(&acme(), &all).await, Ok(Vec::new()));
    assert!(!place.database.file().expect("a file").exists());
}

#[tokio::test]
async fn s0_15_a_server_is_read_as_it_was_stored() {
    in_each(async |place| {
        let servers = servers(&place.database);
        for server in [server("a"), full("b")] {
            servers.by(actor()).create(&server).await.expect("stored");
            let other = VirtualServers::new(place.database.clone());
            assert_eq!(other.read(&acme(), &server.id).await, Ok(Some(server)));
        }
        assert_eq!(servers.read(&acme(), &id("c")).await, Ok(None));
        servers.close().await;
        assert_eq!(servers.by(actor()).delete(&acme(), &id("a")).await, Ok(true));
        assert_eq!(servers.by(actor()).delete(&acme(), &id("a")).await, Ok(false));
        assert_eq!(servers.read(&acme(), &id("a")).await, Ok(None));
        // Name and id are free again.
        assert_eq!(servers.by(actor()).create(&server("a")).await, Ok(()));
    })
    .await;
}

#[tokio::test]
async fn s0_08_names_are_unique_in_a_tenant_and_ids_in_the_deployment() {
    in_each(async |place| {
        let servers = servers(&place.database);
        let named = |text: &str, name: &str, tenant: &str| {
            let mut server = server(text);
            name.clone_into(&mut server.settings.name);
            server.tenant = TenantId::new(tenant);
            server
        };
        servers.by(actor()).create(&server("a")).await.expect("stored");
        let check = async |server: &VirtualServer, expected: &str| {
            assert_eq!(
                said(servers.by(actor()).create(server).await),
                expected,
                "{server:?}"
            );
        };
        let name_taken = "name: a server 'a' exists already; choose another name";
        let id_taken = "id: 'a' is taken; choose another id, or leave it out";
        check(&named("b", "a", "acme"), name_taken).await;
        check(&named("a", "b", "acme"), id_taken).await;
        // The error does not tell another tenant's id from an own id.
        check(&named("a", "b", "other"), id_taken).await;
        check(&named("a", "a", "other"), id_taken).await;
        check(&named("b", "a", "other"), "ok").await;
        check(&named("c", "A", "acme"), "ok").await;
        assert_eq!(servers.read(&acme(), &id("b")).await, Ok(None));
        assert_eq!(servers.by(actor()).delete(&acme(), &id("b")).await, Ok(false));
        let foreign = servers.by(actor()).update(&server("b"), 1000).await;
        assert_eq!(said(foreign), "unknown server 'b'");
    })
    .await;
}

#[tokio::test]
async fn s0_16_a_change_replaces_settings_that_nobody_changed_meanwhile() {
    in_each(async |place| {
        let servers = servers(&place.database);
        for text in ["a", "b"] {
            servers.by(actor()).create(&server(text)).await.expect("stored");
        }
        let changed = VirtualServer {
            // Owner and time of creation are not settings.
            owner: UserId::new("eve@example.com"),
            created_ms: 7,
            ..full("a")
        };
        let expected = full("a");
        assert_eq!(
            servers.by(actor()).update(&changed, 1000).await,
            Ok(expected.clone())
        );
        assert_eq!(servers.read(&acme(), &id("a")).await, Ok(Some(expected)));
        let late = servers.by(actor()).update(&server("a"), 1000).await;
        let told = "server 'a' was changed meanwhile; read it again and repeat the change";
        assert_eq!(said(late), told);
        // The clock stands still or was set back.
        let mut standard = server("a");
        for expected in [2001, 2002] {
            standard.settings.description = Some(expected.to_string());
            let updated = servers
                .by(actor())
                .update(&standard, expected - 1)
                .await
                .expect("changed");
            assert_eq!(updated.updated_ms, expected);
            assert_eq!(updated.settings, standard.settings);
        }
        let mut clash = server("a");
        clash.settings.name = "b".to_owned();
        let told = "name: a server 'b' exists already; choose another name";
        assert_eq!(said(servers.by(actor()).update(&clash, 2002).await), told);
        assert_eq!(
            said(servers.by(actor()).update(&server("c"), 1000).await),
            "unknown server 'c'"
        );
        // A refusal leaves no transaction open.
        assert_eq!(servers.by(actor()).delete(&acme(), &id("b")).await, Ok(true));
        assert!(servers.by(actor()).update(&clash, 2002).await.is_ok());
    })
    .await;
}

#[tokio::test]
async fn of_concurrent_changes_one_succeeds() {
    in_each(async |place| {
        let (one, other) = (servers(&place.database), servers(&place.database));
        let made = server("a");
        let same_name = VirtualServer {
            id: id("b"),
            ..made.clone()
        };
        let (first, second) = tokio::join!(
            one.by(actor()).create(&made),
            other.by(actor()).create(&same_name)
        );
        assert_eq!(first.is_ok(), second.is_err(), "{first:?} {second:?}");
        let made = if first.is_ok() { made } else { same_name };
        let (first, second) = tokio::join!(
            one.by(actor()).update(&made, 1000),
            other.by(actor()).update(&made, 1000)
        );
        let results = [first, second].map(said);
        assert!(results.contains(&"ok".to_owned()), "{results:?}");
        assert_eq!(
            results.iter().filter(|result| *result == "ok").count(),
            1,
            "{results:?}"
        );
    })
    .await;
}

/// Public `p`, private `q`, `ta` and `tb` of two teams, all of Ann's, and Bob's private `bob`.
async fn fill(servers: &VirtualServers) {
    let of = |text: &str, visibility, team: Option<&str>| {
        let mut server = server(text);
        server.settings.visibility = visibility;
        server.settings.team = team.map(TeamId::new);
        server
    };
    let mut all = [
        of("p", Visibility::Public, None),
        of("q", Visibility::Private, None),
        of("ta", Visibility::Team, Some("team-a")),
        of("tb", Visibility::Team, Some("team-b")),
        of("bob", Visibility::Private, None),
    ];
    all[0].settings.tags = words(&["prod", "x"]);
    all[1].settings.tags = words(&["dev"]);
    all[2].settings.tags = words(&["a\"prod"]);
    all[4].owner = UserId::new("bob@example.com");
    for (server, created_ms) in all.iter_mut().zip([1000, 3000, 2000, 2000, 1000]) {
        server.created_ms = created_ms;
        servers.by(actor()).create(server).await.expect("stored");
    }
    let foreign = VirtualServer {
        tenant: TenantId::new("other"),
        ..server("foreign")
    };
    servers.by(actor()).create(&foreign).await.expect("stored");
}

#[tokio::test]
async fn s0_82_a_viewer_sees_public_team_and_own_servers() {
    in_each(async |place| {
        let servers = servers(&place.database);
        fill(&servers).await;
        let check = async |filter: ServerFilter<'_>, expected: &[&str]| {
            let found = servers.list(&acme(), &filter).await.expect("listed");
            let ids: Vec<&str> = found.iter().map(|server| server.id.as_str()).collect();
            assert_eq!(ids, expected, "{filter:?}");
        };
        let all = || ServerFilter::new(ServerViewer::All, 100);
        let [ann, bob] = ["ann@example.com", "bob@example.com"].map(UserId::new);
        let of = |user, teams: &[&str]| {
            let teams = teams.iter().map(|team| TeamId::new(*team)).collect();
            ServerFilter::new(ServerViewer::Of { user, teams }, 100)
        };
        check(all(), &["q", "tb", "ta", "p", "bob"]).await;
        check(of(&ann, &[]), &["q", "tb", "ta", "p"]).await;
        check(of(&bob, &[]), &["p", "bob"]).await;
        check(of(&bob, &["team-a"]), &["ta", "p", "bob"]).await;
        check(of(&bob, &["team-b", "team-a"]), &["tb", "ta", "p", "bob"]).await;
        let tagged = |tags: &[&str]| ServerFilter {
            tags: words(tags),
            ..all()
        };
        check(tagged(&["prod"]), &["p"]).await;
        check(tagged(&["prod", "dev", "prod"]), &["q", "p"]).await;
        check(tagged(&["a\"prod"]), &["ta"]).await;
        check(tagged(&["pro", ",", "[", ""]), &[]).await;
        let visible = |visibility| ServerFilter {
            visibility: Some(visibility),
            ..of(&bob, &["team-a"])
        };
        check(visible(Visibility::Public), &["p"]).await;
        check(visible(Visibility::Private), &["bob"]).await;
        check(visible(Visibility::Team), &["ta"]).await;
        let of_team = |team| ServerFilter {
            team: Some(TeamId::new(team)),
            ..of(&bob, &["team-a"])
        };
        check(of_team("team-a"), &["ta"]).await;
        check(of_team("team-b"), &[]).await;
    })
    .await;
}

#[tokio::test]
async fn pages_of_servers_follow_each_other() {
    in_each(async |place| {
        let servers = servers(&place.database);
        fill(&servers).await;
        for limit in [0, 1, 2, 5, 100] {
            let mut filter = ServerFilter::new(ServerViewer::All, limit);
            let mut seen = Vec::new();
            loop {
                let page = servers.list(&acme(), &filter).await.expect("listed");
                assert!(page.len() <= limit.max(1) as usize);
                let Some(last) = page.last() else { break };
                filter.before = Some(ServerCursor::after(last));
                seen.extend(page.iter().map(|server| server.id.to_string()));
            }
            assert_eq!(seen, ["q", "tb", "ta", "p", "bob"], "{limit}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_row_with_unknown_values_is_refused() {
    in_each(async |place| {
        let servers = servers(&place.database);
        for change in [
            "visibility = 'world'",
            "kind = 'standard'",
            "code = NULL",
            "code = '{}'",
            "tags = '{}'",
        ] {
            servers.by(actor()).create(&full("a")).await.expect("stored");
            place
                .change(&format!("UPDATE virtual_servers SET {change}"))
                .await;
            let read = servers.read(&acme(), &id("a")).await;
            assert!(
                matches!(&read, Err(VirtualServerError::Store(trouble)) if trouble.brief() == "is damaged"),
                "{change}: {read:?}"
            );
            assert_eq!(servers.by(actor()).delete(&acme(), &id("a")).await, Ok(true));
        }
    })
    .await;
}

#[test]
fn calls_may_move_between_threads() {
    fn check<T: Send>(_: T) {}
    let servers = VirtualServers::new(Place::file().database);
    let (server, tenant) = (server("a"), acme());
    let all = ServerFilter::new(ServerViewer::All, 1);
    check(servers.by(actor()).create(&server));
    check(servers.read(&tenant, &server.id));
    check(servers.list(&tenant, &all));
    check(servers.by(actor()).update(&server, 1));
    check(servers.by(actor()).delete(&tenant, &server.id));
    check(servers.close());
}
