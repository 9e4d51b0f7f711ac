//! Callers that come and go.

use std::fs;
use std::ops::Range;
use std::sync::Arc;

use test_support::{descendants, wait_until};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use types::{Selector, Status};

use crate::yard::{Surface, Yard, result, run, run_until};

const CALLERS: usize = 1_000;
const AT_ONCE: usize = 8;
/// Descriptors by which the peak may have grown since the warm-up: four for the control group of each session that
/// ended while its successor began. One left by every 30th caller would be more.
const KEPT_FOR_ALL: usize = 4 * AT_ONCE;

/// Everything in this process that a caller could leave behind.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    processes: usize,
    descriptors: usize,
}

impl Held {
    fn now() -> Self {
        Self {
            processes: descendants(std::process::id()).len(),
            descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_a_thousand_callers() {
    let yard = Yard::new("acme/ann");
    let yard = Arc::new(yard);
    // Warm up first: the host keeps some things for everyone, such as control groups for the peak of callers.
    visit_all(&yard, 0..10 * AT_ONCE).await;
    let before = settled().await;
    visit_all(&yard, 10 * AT_ONCE..CALLERS).await;
    wait_until("the processes and descriptors of all callers to be gone", || {
        let after = Held::now();
        let descriptors = before.descriptors + KEPT_FOR_ALL;
        (after.processes <= before.processes && after.descriptors <= descriptors).then_some(())
    })
    .await;
    let left: Vec<_> = fs::read_dir(yard.directory.path().join("data/workspaces"))
        .unwrap()
        .collect();
    assert!(
        left.is_empty(),
        "directories of callers who wrote nothing are left: {left:?}"
    );
    yard.host.close().await;
}

async fn visit_all(yard: &Arc<Yard>, numbers: Range<usize>) {
    let mut visits = JoinSet::new();
    for number in numbers {
        if visits.len() == AT_ONCE {
            visits.join_next().await.unwrap().unwrap();
        }
        let yard = yard.clone();
        visits.spawn(async move { visit(&yard, number).await });
    }
    while let Some(visited) = visits.join_next().await {
        visited.unwrap();
    }
}

/// A caller comes, runs a program that calls a tool, and is dismissed.
async fn visit(yard: &Yard, number: usize) {
    let principal = format!("tenant-{}/user-{number}", number % 7);
    let caller = yard.caller(&principal);
    let code = format!("v = {number}\nreturn await tools.stub.add(a={number}, b=1)");
    let report = run(&caller, Surface::Code, Selector::Default, code).await;
    assert_eq!(result(&report), serde_json::json!({"sum": number + 1}));
    yard.host.dismiss(&principal.parse().unwrap()).await;
}

/// Once the pool of idle sessions has its usual size again.
async fn settled() -> Held {
    let mut last = Held::now();
    wait_until("the number of processes to stay the same", || {
        let now = Held::now();
        let is_same = now == last;
        last = now;
        is_same.then_some(())
    })
    .await;
    last
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_is_dismissed_during_a_run_hears_that_the_run_was_cancelled() {
    let yard = Yard::new("acme/ann");
    let caller = yard.caller("acme/ann");
    let principal = "acme/ann".parse().unwrap();
    let code = "open('/workspace/begun', 'w')\nimport time\nwhile True: time.sleep(0.01)".to_owned();
    let running = run_until(
        &caller,
        Surface::Code,
        Selector::Default,
        code,
        CancellationToken::new(),
    );
    let dismissed = async {
        wait_until("the program to begin", || {
            yard.files()
                .iter()
                .any(|file| file.ends_with("begun"))
                .then_some(())
        })
        .await;
        yard.host.dismiss(&principal).await;
    };
    let (report, ()) = tokio::join!(running, dismissed);
    assert_eq!(report.outcome.status, Status::Cancelled, "{report:?}");
    let report = run(&caller, Surface::Code, Selector::Default, "return 1".to_owned()).await;
    assert_eq!(result(&report), 1, "whoever comes again begins afresh");
    yard.host.close().await;
}
