//! A guest or its zygote is killed: its run is reported lost, and the next call works.

use rustix::process::Signal;
use test_support::{CodeClient, Process, descendants, status_field, wait_until};

use crate::endings::trees::{Busy, busy, check_processes_gone, ignores, send};

/// Signals of the marked session, which stays alive: the session ignores SIGUSR1.
const USER_1: u64 = 1 << 9;

/// The processes that create and hold sessions.
#[derive(Debug)]
struct Machinery {
    launcher: u32,
    init: u32,
    /// The processes that create network namespaces and attach directories.
    attendants: [u32; 2],
    zygote: u32,
    sessions: Vec<u32>,
}

fn parent(pid: u32) -> Option<u32> {
    status_field(pid, "PPid")?.parse().ok()
}

/// Finds the processes by their ancestry.
fn machinery(codeyard: u32) -> Machinery {
    let below = descendants(codeyard);
    let children = |of: u32| -> Vec<&Process> {
        below
            .iter()
            .filter(|process| parent(process.pid) == Some(of))
            .collect()
    };
    let is_zygote = |process: &&&Process| process.command.contains("zygote.py");
    let launcher = children(codeyard)
        .into_iter()
        .find(|process| process.command.ends_with("__jail"))
        .unwrap();
    let [init] = children(launcher.pid)[..] else {
        panic!("the launcher has one child: {below:?}")
    };
    let grandchildren = children(init.pid);
    let zygote = grandchildren.iter().find(is_zygote).unwrap();
    let attendants = grandchildren.iter().filter(|process| !is_zygote(process));
    let attendants: Vec<u32> = attendants.map(|process| process.pid).collect();
    Machinery {
        launcher: launcher.pid,
        init: init.pid,
        attendants: attendants.try_into().unwrap(),
        zygote: zygote.pid,
        sessions: children(zygote.pid).iter().map(|process| process.pid).collect(),
    }
}

/// The run is reported as lost, and so is the idle session at its next call. Both sessions then work again.
async fn check_lost(client: &mut CodeClient, running: &serde_json::Value, what: &str) {
    let ran = client.ran(running).await;
    assert_eq!(
        (ran.status(), ran.is_error()),
        ("failed", true),
        "{what}: {ran:?}"
    );
    assert_eq!(ran.stdout(), "partial\n", "{what}: its output is lost");
    assert!(ran.error().contains("SandboxLost"), "{what}: {ran:?}");
    assert_eq!(ran.fields()["session_state"], "lost", "{what}");
    for session in ["tree", "running"] {
        let ran = client.run_in(session, "'kept' in globals()").await;
        assert_eq!(
            (ran.status(), ran.result()),
            ("completed", &false.into()),
            "{what}: {ran:?}"
        );
        let notice = ran.fields()["notice"].as_str().unwrap_or_default();
        assert!(notice.contains("started afresh"), "{what}: {ran:?}");
        let again = client.run_in(session, "1").await;
        assert!(again.fields()["notice"].is_null(), "{what}: said once: {again:?}");
    }
}

#[tokio::test]
async fn a_dead_zygote_is_replaced_and_its_sessions_are_reported_lost() {
    for what in ["zygote", "first process of its namespace", "launcher"] {
        let Busy {
            mut client,
            running,
            traces,
        } = busy().await;
        let codeyard = client.mcp.pid().unwrap();
        let found = machinery(codeyard);
        let chosen = match what {
            "zygote" => found.zygote,
            "launcher" => found.launcher,
            _ => found.init,
        };
        send(chosen, Signal::KILL);
        let old: Vec<u32> = [found.launcher, found.init, found.zygote]
            .into_iter()
            .chain(found.attendants)
            .chain(found.sessions)
            .collect();
        check_processes_gone(&traces.only(|pid| old.contains(&pid))).await;
        check_lost(&mut client, &running, what).await;
        client.check("print('next')", "next\n").await;
    }
}

#[tokio::test]
async fn a_zygote_without_its_attendant_is_replaced_at_the_next_session() {
    for which in 0..2 {
        let mut busy = busy().await;
        let codeyard = busy.client.mcp.pid().unwrap();
        send(machinery(codeyard).attendants[which], Signal::KILL);
        // The prepared network namespaces suffice for some sessions.
        for number in 0..20 {
            let ran = busy.client.run_in(&format!("session-{number}"), "'fresh'").await;
            assert_eq!(ran.result(), "fresh", "{which}, {number}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn only_the_killed_guest_is_lost() {
    let Busy {
        mut client,
        running,
        traces,
    } = busy().await;
    let other = "import signal\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)\nkept = 1";
    client.run_in("other", other).await;
    let codeyard = client.mcp.pid().unwrap();
    let sessions = machinery(codeyard).sessions;
    let killed: Vec<u32> = sessions
        .into_iter()
        .filter(|pid| !ignores(*pid, USER_1))
        .collect();
    assert!(killed.len() >= 2, "{killed:?}");
    for pid in &killed {
        send(*pid, Signal::KILL);
    }
    check_processes_gone(&traces.only(|pid| killed.contains(&pid))).await;
    check_lost(&mut client, &running, "the guests").await;
    let kept = client.run_in("other", "kept").await;
    assert_eq!(kept.result(), 1, "{kept:?}");
    wait_until("the server still runs", || {
        let runs = |process: &Process| process.command.contains("stub");
        descendants(codeyard).iter().any(runs).then_some(())
    })
    .await;
}
