//! Upstream servers through `UpstreamServers`: round trip, unique names, counted changes.

use store::Database;
use store::upstream_servers::{UpstreamServerError, UpstreamServers};
use types::{Ownership, TeamId, TenantId, UpstreamServer, UserId, Visibility};

use crate::places::{Place, actor, in_each};

fn acme() -> TenantId {
    TenantId::new("acme")
}

/// A server of Ann's.
pub fn server(name: &str) -> UpstreamServer {
    UpstreamServer {
        name: name.to_owned(),
        alias: name.to_lowercase(),
        ownership: Ownership {
            tenant: acme(),
            owner: UserId::new("ann@example.com"),
            visibility: Visibility::Team,
            team: Some(TeamId::new("team-a")),
            created_ms: 1000,
        },
        updated_ms: 1000,
        definition: r#"{"url":"https://example.com/","headers":{"A":"secret \"ä\""}}"#.to_owned(),
    }
}

fn said<T: std::fmt::Debug>(done: Result<T, UpstreamServerError>) -> String {
    done.map_or_else(|error| error.to_string(), |_| "ok".to_owned())
}

async fn names(servers: &UpstreamServers) -> Vec<String> {
    let list = servers.all().await.expect("a list");
    list.servers.into_iter().map(|server| server.name).collect()
}

#[tokio::test]
async fn reading_creates_no_database() {
    let place = Place::file();
    let servers = UpstreamServers::new(place.database.clone());
    assert_eq!(servers.changes().await, Ok(0));
    assert_eq!(
        servers.all().await,
        Ok(store::upstream_servers::UpstreamServerList::default())
    );
    assert!(!place.database.file().expect("a file").exists());
}

#[tokio::test]
async fn servers_are_read_as_they_were_stored_and_every_change_is_counted() {
    in_each(async |place| {
        let servers = UpstreamServers::new(place.database.clone());
        let other = UpstreamServers::new(place.database.clone());
        let plain = UpstreamServer {
            ownership: Ownership {
                visibility: Visibility::Public,
                team: None,
                ..server("b").ownership
            },
            ..server("b")
        };
        servers.by(actor()).create(&plain).await.expect("stored");
        servers.by(actor()).create(&server("a")).await.expect("stored");
        let list = other.all().await.expect("a list");
        assert_eq!((list.changes, list.servers), (2, vec![server("a"), plain]));

        let changed = UpstreamServer {
            definition: r#"{"command":"x"}"#.to_owned(),
            ..server("a")
        };
        let stored = servers.by(actor()).update(&changed, 1000).await.expect("stored");
        assert_eq!(stored.updated_ms, 1001);
        assert_eq!(stored.definition, changed.definition);
        assert_eq!(other.changes().await, Ok(3));
        let stale = "upstream server 'a' was changed meanwhile; read it again and repeat the change";
        assert_eq!(said(servers.by(actor()).update(&changed, 1000).await), stale);
        assert_eq!(
            said(servers.by(actor()).update(&server("c"), 1000).await),
            "unknown upstream server 'c'"
        );
        assert_eq!(other.changes().await, Ok(3));

        assert_eq!(servers.by(actor()).delete(&acme(), "a", 999).await, Ok(false));
        assert_eq!(
            servers
                .by(actor())
                .delete(&TenantId::new("other"), "a", 1000)
                .await,
            Ok(false)
        );
        assert_eq!(servers.by(actor()).delete(&acme(), "a", 1000).await, Ok(true));
        assert_eq!(servers.by(actor()).delete(&acme(), "a", 1000).await, Ok(false));
        assert_eq!(other.changes().await, Ok(4));
        assert_eq!(names(&other).await, ["b"]);
    })
    .await;
}

#[tokio::test]
async fn names_are_unique_also_as_programs_write_them_and_over_tenants() {
    in_each(async |place| {
        let servers = UpstreamServers::new(place.database.clone());
        servers.by(actor()).create(&server("a")).await.expect("stored");
        let mut foreign = server("a");
        foreign.ownership.tenant = TenantId::new("other");
        for taken in [server("a"), server("A"), foreign] {
            let told = format!(
                "name: an upstream server '{}' exists already; choose another name",
                taken.name
            );
            assert_eq!(said(servers.by(actor()).create(&taken).await), told);
        }
        assert_eq!(names(&servers).await, ["a"]);
        assert_eq!(servers.changes().await, Ok(1));
    })
    .await;
}

#[tokio::test]
async fn a_deployment_has_a_bounded_number_of_servers() {
    in_each(async |place| {
        let servers = UpstreamServers::new(place.database.clone());
        servers.by(actor()).create(&server("a")).await.expect("stored");
        let number = match place.database {
            Database::Sqlite(_) => {
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999) SELECT i FROM n"
            }
            Database::Postgres(_) => "SELECT i FROM generate_series(1, 999) AS n(i)",
        };
        let more = format!(
            "INSERT INTO upstream_servers SELECT 'm' || i, 'm' || i, tenant, owner, visibility, team, definition, created_ms, \
             updated_ms FROM upstream_servers, ({number}) AS numbers"
        );
        place.change(&more).await;
        let full = servers.by(actor()).create(&server("b")).await;
        assert_eq!(full, Err(UpstreamServerError::TooMany));
        assert_eq!(servers.by(actor()).delete(&acme(), "m7", 1000).await, Ok(true));
        servers.by(actor()).create(&server("b")).await.expect("room");
    })
    .await;
}

#[tokio::test]
async fn of_concurrent_changes_one_succeeds() {
    in_each(async |place| {
        UpstreamServers::new(place.database.clone())
            .by(actor())
            .create(&server("a"))
            .await
            .expect("stored");
        let (one, other) = (
            UpstreamServers::new(place.database.clone()),
            UpstreamServers::new(place.database.clone()),
        );
        let changed = server("a");
        let both = tokio::join!(
            one.by(actor()).update(&changed, 1000),
            other.by(actor()).update(&changed, 1000)
        );
        let succeeded = [both.0, both.1].iter().filter(|done| done.is_ok()).count();
        assert_eq!(succeeded, 1);
    })
    .await;
}

#[test]
fn a_server_is_shown_without_its_definition() {
    let shown = format!("{:?}", server("a"));
    assert!(!shown.contains("secret") && shown.contains("team-a"), "{shown}");
}
