//! A database copied into another: completely, after interruptions, and never over existing rows.

use std::path::Path;

use identity::{Grant, Role, TokenId, TokenSecret, TokenTeams};
use serde_json::{Value, json};
use store::accounts::{Lookup, Moment, NewToken};
use store::saved::{NewMemory, SavedBy};
use store::{
    Accounts, Attempt, Audit, CallMade, Change, Database, Filter, Opened, Reader, Records, RecordsConfig,
    Saved, TransferError, TransferredTable, UpstreamServers, VirtualServers, transfer,
};
use tokio::sync::Notify;
use types::{Outcome, Principal, RunId, ServerId, SessionFate, Status, TeamId, TenantId};

use crate::attempts;
use crate::places::{Place, actor, in_each};
use crate::{upstream_servers, virtual_servers};

const RUNS: usize = 700;

fn config(database: &Database) -> RecordsConfig {
    RecordsConfig {
        database: database.clone(),
        ..RecordsConfig::below(Path::new("/"))
    }
}

async fn run(records: &Records, number: usize) {
    let run = RunId::new(format!("r-{number:05}"));
    let attempt = Attempt {
        client: Some("a client".to_owned()),
        server: Some(ServerId::new("srv")),
        ..attempts::attempt(run.as_str())
    };
    let mut record = attempts::accept(records, attempt);
    record.begin().await.expect("not required");
    record.begun();
    let made = CallMade {
        server: "crm".to_owned(),
        tool: "fïnd\0".to_owned(),
        arguments: records.arguments(&json!({"name": "Ann"}), |_| true),
        duration: std::time::Duration::from_micros(77),
        outcome: "answered".to_owned(),
        result_bytes: Some(12),
    };
    records.call(&run, made);
    records.changed(Some(&run), Change::MemorySaved, "k");
    let outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
    record.ended(&outcome, None).await.expect("not required");
}

/// Adds a token of a team's member: a row in each table of users and tokens.
async fn fill_accounts(database: &Database) {
    let accounts = Accounts::new(database.clone());
    let (team, by) = (TeamId::new("team-a"), user());
    accounts
        .by(actor())
        .create_user(&by, Role::Developer)
        .await
        .expect("a user");
    accounts
        .by(actor())
        .create_team(by.tenant(), &team, "Team \u{e9}")
        .await
        .expect("a team");
    accounts
        .by(actor())
        .set_member(&team, &by, Role::Developer)
        .await
        .expect("a member");
    let grant = Grant {
        owner: by,
        name: None,
        role: Role::Developer,
        teams: TokenTeams::chosen(Role::Developer, [team]),
        scopes: None,
        expires_ms: None,
    };
    let token = NewToken {
        hash: &secret().hash(),
        id: &TokenId::new([1; 12]),
        grant: &grant,
        made_by: None,
    };
    accounts.by(actor()).create_token(token).await.expect("a token");
    accounts.close().await;
}

fn user() -> Principal {
    identity::user(&TenantId::new("acme"), "ann@example.com").expect("a user")
}

fn secret() -> TokenSecret {
    TokenSecret::new([7; 32])
}

/// The identity of the token, as text.
async fn identified(database: &Database) -> String {
    let accounts = Accounts::new(database.clone());
    let found = accounts.find(&secret().hash(), Moment::Database).await;
    match found.expect("a lookup") {
        Lookup::Identified(found) => format!("{:?}", found.identity),
        refused @ Lookup::Refused(_) => panic!("{refused:?}"),
    }
}

/// Writes to every table of records, saved values, users, tokens, virtual servers and upstream servers.
async fn fill(database: &Database) {
    fill_accounts(database).await;
    let servers = VirtualServers::new(database.clone());
    for server in [virtual_servers::server("a"), virtual_servers::full("b")] {
        servers.by(actor()).create(&server).await.expect("a server");
    }
    servers.close().await;
    let upstreams = UpstreamServers::new(database.clone());
    upstreams
        .by(actor())
        .create(&upstream_servers::server("a"))
        .await
        .expect("an upstream server");
    upstreams.close().await;
    let records = Records::new(config(database));
    for number in 0..RUNS {
        run(&records, number).await;
    }
    records.close().await;
    let saved = Saved::new(database.clone());
    let principal = Principal::local();
    let by = SavedBy {
        principal: &principal,
        run: None,
    };
    saved.save_tool(by, "f", "def f(): 0").await.expect("saved");
    for key in 0..40 {
        let memory = NewMemory {
            key: &format!("k{key}"),
            value: &json!([key, "x".repeat(1000)]),
            metadata: &Value::Null,
            expected: None,
            times: None,
        };
        saved.save_memory(by, memory).await.expect("saved");
    }
    saved.close().await;
}

async fn seen(database: &Database) -> (Vec<String>, Vec<String>) {
    let principal = Principal::local();
    let opened = Reader::open(&config(database), &principal).await;
    let Opened::Open(mut reader) = opened.expect("a sound database") else {
        panic!("nothing is recorded");
    };
    let runs = reader.runs(&Filter::default()).await.expect("runs");
    let first = reader.run(&runs[0].id).await.expect("a look").expect("a run");
    assert_eq!((first.calls.len(), first.events.len()), (1, 1), "{first:?}");
    let memories = Saved::new(database.clone())
        .memories(&principal)
        .await
        .expect("listed");
    (
        runs.iter().map(|run| format!("{run:?}")).collect(),
        memories.iter().map(|head| format!("{head:?}")).collect(),
    )
}

async fn copied(from: &Database, to: &Database) -> Vec<TransferredTable> {
    transfer(from, to, |_, _| {}).await.expect("copied")
}

#[tokio::test]
async fn everything_goes_to_a_server_and_back() {
    in_each(async |place| {
        fill(&place.database).await;
        let (file, server) = (Place::file(), Place::postgres());
        let there = copied(&place.database, &server.database).await;
        let rows = |tables: &[TransferredTable], name: &str| {
            tables
                .iter()
                .find(|table| table.name == name)
                .map(|table| table.rows)
        };
        assert_eq!(rows(&there, "runs"), Some(RUNS as u64));
        assert_eq!(rows(&there, "calls"), Some(RUNS as u64));
        assert_eq!(rows(&there, "events"), Some(RUNS as u64));
        assert_eq!(rows(&there, "memories"), Some(40));
        for table in ["users", "teams", "memberships", "tokens"] {
            assert_eq!(rows(&there, table), Some(1), "{table}");
        }
        assert_eq!(rows(&there, "virtual_servers"), Some(2));
        let chain = Audit::new(server.database.clone()).verify(None).await;
        let rows_of_chain = chain.expect("a chain").rows;
        assert_eq!((rows(&there, "audit"), rows_of_chain), (Some(7), 7));
        assert_eq!(rows(&there, "upstream_servers"), Some(1));
        let back = copied(&server.database, &file.database).await;
        let kept = virtual_servers::full("b");
        let servers = VirtualServers::new(file.database.clone());
        assert_eq!(servers.read(&kept.tenant, &kept.id).await, Ok(Some(kept)));
        assert_eq!(there, back);
        assert_eq!(
            identified(&server.database).await,
            identified(&file.database).await
        );
        let (runs, memories) = seen(&place.database).await;
        assert_eq!(runs.len(), RUNS);
        assert_eq!(seen(&server.database).await, (runs.clone(), memories.clone()));
        assert_eq!(seen(&file.database).await, (runs, memories));
        // New numbers follow the copied ones.
        for database in [&server.database, &file.database] {
            let records = Records::new(config(database));
            run(&records, RUNS).await;
            records.close().await;
            let (runs, _) = seen(database).await;
            assert_eq!(runs.len(), RUNS + 1);
            assert!(runs[0].contains(&format!("r-{RUNS:05}")), "{}", runs[0]);
        }
    })
    .await;
}

#[tokio::test]
async fn a_transfer_goes_on_where_it_was_interrupted() {
    let (file, server) = (Place::file(), Place::postgres());
    fill(&file.database).await;
    // Abandon the transfer after a growing number of pages, at an arbitrary point.
    for pages in [1, 3, 20, 20] {
        let (enough, mut left) = (Notify::new(), pages);
        let copying = transfer(&file.database, &server.database, |_, _| {
            left -= 1;
            if left == 0 {
                enough.notify_one();
            }
        });
        tokio::select! {
            biased;
            () = enough.notified() => {}
            copied = copying => panic!("{copied:?} after {pages} pages"),
        }
        let refused = Saved::new(server.database.clone())
            .memories(&Principal::local())
            .await;
        let refused = refused.expect_err("half copied").to_string();
        assert!(
            refused.contains("holds a half-finished copy of another database"),
            "{refused}"
        );
        assert!(refused.contains("codeyard records move"), "{refused}");
    }
    let other = Place::file();
    fill(&other.database).await;
    let another = transfer(&other.database, &server.database, |_, _| {}).await;
    assert!(
        matches!(another, Err(TransferError::Another { .. })),
        "{another:?}"
    );
    let mut pages = 0;
    transfer(&file.database, &server.database, |_, _| pages += 1)
        .await
        .expect("copied");
    assert!(pages < 60, "{pages} pages were copied again");
    assert_eq!(seen(&server.database).await, seen(&file.database).await);
}

#[tokio::test]
async fn a_changed_copy_is_detected() {
    let (file, server) = (Place::file(), Place::postgres());
    fill(&file.database).await;
    let enough = Notify::new();
    let copying = transfer(&file.database, &server.database, |table, _| {
        if table == "runs" {
            enough.notify_one();
        }
    });
    tokio::select! {
        biased;
        () = enough.notified() => {}
        copied = copying => panic!("{copied:?}"),
    }
    server.change("UPDATE runs SET front = 'run' WHERE seq = 1").await;
    let differs = transfer(&file.database, &server.database, |_, _| {}).await;
    assert!(
        matches!(differs, Err(TransferError::Differs { table: "runs", .. })),
        "{differs:?}"
    );
}

#[tokio::test]
async fn databases_with_records_or_in_use_stay_unchanged() {
    let (file, server) = (Place::file(), Place::postgres());
    let refused = async |from: &Database, to: &Database| {
        transfer(from, to, |_, _| {})
            .await
            .expect_err("refused")
            .to_string()
    };
    let told = refused(&file.database, &server.database).await;
    assert!(told.contains("nothing has been recorded"), "{told}");
    fill(&file.database).await;
    let told = refused(&file.database, &file.database).await;
    assert!(told.contains("is named twice"), "{told}");
    copied(&file.database, &server.database).await;
    let told = refused(&file.database, &server.database).await;
    assert!(told.contains("holds records already"), "{told}");
    let records = Records::new(config(&file.database));
    run(&records, RUNS).await;
    while seen(&file.database).await.0.len() == RUNS {
        tokio::task::yield_now().await;
    }
    let told = refused(&file.database, &server.anew("other")).await;
    assert!(told.contains("a codeyard still writes to"), "{told}");
    records.close().await;
    copied(&file.database, &server.anew("another")).await;
}
