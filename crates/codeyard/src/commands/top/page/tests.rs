//! The page on terminals of several sizes, and as text.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use server::control::{Configuration, Status};

use super::super::snapshot::ServerSummary;
use super::*;

fn snapshot() -> Snapshot {
    let status = |pid: u32, client: &str| Status {
        pid,
        version: "0.1.0".to_owned(),
        surface: "code".to_owned(),
        since_ms: 1_769_860_800_000,
        client: Some(client.to_owned()),
        sessions: 1,
        runs: 12,
        servers: 3,
        servers_running: 2,
        configuration: Configuration::default(),
    };
    let server = |name: &str, state, running, calls| ServerSummary {
        name: name.to_owned(),
        state,
        running,
        tools: Some(4),
        calls,
        last_error: None,
    };
    let run = |id: &str, status: &str| RunView {
        seq: 1,
        id: id.to_owned(),
        status: status.to_owned(),
        principal: "local".to_owned(),
        virtual_server: None,
        front: "mcp".to_owned(),
        client: None,
        session: Some("default".to_owned()),
        language: None,
        code_hash: None,
        code_bytes: None,
        limits: None,
        backend: "process".to_owned(),
        mode: None,
        asked_ms: 1_769_860_801_000,
        ended_ms: None,
        waited_us: None,
        duration_us: (status != "running").then_some(34_000),
        limit: None,
        error_kind: None,
        session_fate: None,
        result_bytes: (status != "running").then_some(2048),
        stdout_bytes: None,
        stderr_bytes: None,
        host_calls: (status != "running").then_some(3),
        cpu_us: None,
        peak_memory: None,
        earlier_threads: None,
    };
    Snapshot {
        at_ms: 1_769_860_805_000,
        processes: vec![status(4711, "cursor 1.7"), status(4712, "zed\x1b[2J")],
        servers: vec![
            server("crm", Activity::Running, 2, 140),
            server("orders", Activity::Idle, 0, 0),
            ServerSummary {
                last_error: Some("did not start:\nno such file".to_owned()),
                ..server("tickets", Activity::Failed, 0, 0)
            },
        ],
        runs: vec![
            run("r-3", "running"),
            run("r-2", "failed"),
            run("r-1", "completed"),
        ],
        day: Some(Traffic {
            runs: 3,
            calls: 140,
            answered_bytes: 3 * 1024 * 1024,
            shown_bytes: 0,
            counted: 2,
            saved: 3356,
        }),
        problems: vec!["codeyard 4713 does not answer: no answer within 2 s".to_owned()],
    }
}

fn drawn(width: u16, height: u16, snapshot: Option<&Snapshot>) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
    terminal.draw(|frame| draw(frame, snapshot)).expect("a page");
    terminal.backend().to_string()
}

#[test]
fn the_page() {
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(drawn(100, 24, Some(&snapshot())));
    });
}

#[test]
fn a_small_page_shows_what_fits() {
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(drawn(40, 12, Some(&snapshot())));
    });
}

#[test]
fn no_size_breaks_it() {
    let mut crowd = snapshot();
    crowd.servers = (0..100).flat_map(|_| crowd.servers.clone()).collect();
    for width in [1, 2, 3, 7, 20, 300] {
        for height in [1, 2, 3, 5, 8, 13, 100] {
            for shown in [None, Some(&Snapshot::default()), Some(&crowd)] {
                drawn(width, height, shown);
            }
        }
    }
}

#[test]
fn as_text() {
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(text(&snapshot()));
    });
    assert_eq!(
        text(&Snapshot::default()),
        "0 codeyards, 0 servers, 0 open sessions\nnothing has been recorded yet\n"
    );
}
