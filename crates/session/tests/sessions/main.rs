//! Sessions on scripted guests: order, concurrency, cancellation, losses, idle time, limits and shutdown.

mod fake;
mod quota;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fake::{Launch, MEMORY, Stage, request};
use proptest::prelude::*;
use serde_json::json;
use session::{RunRequest, RunResult, SessionError, Sessions, SessionsConfig};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use types::{Granted, Limit, Limits, SessionFate, Status};

fn sessions(config: SessionsConfig) -> (Sessions, Arc<Stage>) {
    let stage = Arc::new(Stage::default());
    (stage.sessions(config, None), stage)
}

/// Runs in the background; the request is queued when this returns.
async fn begin(sessions: &Sessions, request: RunRequest) -> JoinHandle<Result<RunResult, SessionError>> {
    let sessions = sessions.clone();
    let task = tokio::spawn(async move { sessions.run(request).await });
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    task
}

/// Runs to the end; returns the guest's number of runs, including this run.
async fn count(sessions: &Sessions, session: &str) -> (u64, Option<String>) {
    let result = sessions.run(request(session, "say x")).await.expect("a result");
    (
        result
            .outcome
            .result
            .expect("a count")
            .as_u64()
            .expect("a number"),
        result.notice,
    )
}

#[tokio::test]
async fn a_session_keeps_its_state_and_others_do_not_see_it() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    assert_eq!(count(&sessions, "").await, (1, None));
    assert_eq!(count(&sessions, "").await, (2, None));
    assert_eq!(count(&sessions, "other").await, (1, None));
    assert_eq!(count(&sessions, "default").await, (3, None));
    let stranger = RunRequest {
        principal: "stranger".parse().expect("a principal"),
        ..request("other", "say x")
    };
    let result = sessions.run(stranger).await.expect("a result");
    assert_eq!(
        (result.outcome.result, result.session.as_str()),
        (Some(json!(1)), "other")
    );
    assert_eq!(stage.alive.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_new_session_is_continued_by_its_name() {
    let (sessions, _stage) = sessions(SessionsConfig::default());
    let one = sessions.run(request("new", "say x")).await.expect("a result");
    let two = sessions.run(request("new", "say x")).await.expect("a result");
    assert_ne!(one.session, two.session);
    assert_ne!(one.run_id, two.run_id);
    assert!(one.session.as_str().starts_with("s-"));
    assert_eq!(count(&sessions, one.session.as_str()).await, (2, None));
}

#[tokio::test]
async fn queued_runs_get_their_own_output_in_order() {
    let (sessions, _stage) = sessions(SessionsConfig::default());
    let mut tasks = Vec::new();
    for i in 0..10 {
        tasks.push(begin(&sessions, request("", &format!("say {i}"))).await);
    }
    for (i, task) in tasks.into_iter().enumerate() {
        let outcome = task.await.unwrap().expect("a result").outcome;
        assert_eq!(
            (outcome.stdout.head, outcome.result),
            (i.to_string(), Some(json!(i + 1)))
        );
    }
}

#[tokio::test]
async fn different_sessions_run_concurrently() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    let a = begin(&sessions, request("a", "hold gate")).await;
    let b = begin(&sessions, request("b", "hold gate")).await;
    assert_eq!(count(&sessions, "c").await, (1, None));
    assert!(!a.is_finished() && !b.is_finished());
    stage.open("gate");
    assert_eq!(
        a.await.unwrap().expect("a result").outcome.status,
        Status::Completed
    );
    assert_eq!(
        b.await.unwrap().expect("a result").outcome.status,
        Status::Completed
    );
}

#[tokio::test]
async fn a_full_queue_refuses_runs() {
    let (sessions, stage) = sessions(SessionsConfig {
        max_queue: 1,
        ..SessionsConfig::default()
    });
    let running = begin(&sessions, request("a", "hold gate")).await;
    let waiting = begin(&sessions, request("a", "say 2")).await;
    let error = sessions.run(request("a", "say 3")).await.expect_err("full");
    assert_eq!(
        error.to_string(),
        "session 'a' has 1 runs waiting already; wait for one to end or use another session"
    );
    stage.open("gate");
    running.await.unwrap().expect("a result");
    assert_eq!(waiting.await.unwrap().expect("a result").outcome.stdout.head, "2");
}

#[tokio::test]
async fn cancelling_a_waiting_run_leaves_the_active_run_alone() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    let running = begin(&sessions, request("a", "hold gate")).await;
    let waiting = request("a", "say never");
    let cancel = waiting.cancel.clone();
    let waiting = begin(&sessions, waiting).await;
    cancel.cancel();
    let result = waiting.await.unwrap().expect("a result");
    assert_eq!(
        (result.outcome.status, result.outcome.session),
        (Status::Cancelled, SessionFate::Kept)
    );
    assert_eq!(
        result.outcome.error.expect("why").message,
        "the run was cancelled before it began"
    );
    assert!(!running.is_finished());
    stage.open("gate");
    running.await.unwrap().expect("a result");
    assert_eq!(count(&sessions, "a").await, (2, None));
}

#[tokio::test]
async fn an_active_run_is_cancelled_by_its_token_or_by_dropping_its_future() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    let run = request("a", "hold gate");
    let cancel = run.cancel.clone();
    let task = begin(&sessions, run).await;
    cancel.cancel();
    let result = task.await.unwrap().expect("a result");
    assert_eq!((result.outcome.status, result.notice), (Status::Cancelled, None));

    let task = begin(&sessions, request("a", "hold gate")).await;
    let waiting = begin(&sessions, request("a", "say never")).await;
    waiting.abort();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(count(&sessions, "a").await, (3, None));
    assert_eq!(stage.cancelled.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_lost_session_starts_afresh_and_reports_it_once() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    assert_eq!(count(&sessions, "a").await, (1, None));
    let lost = sessions.run(request("a", "lose")).await.expect("a result");
    assert_eq!((lost.outcome.session, lost.notice), (SessionFate::Lost, None));
    assert_eq!(stage.alive.load(Ordering::SeqCst), 0);
    let notice = "session 'a' started afresh, its earlier variables and files are gone: \
                  a run was stopped at its time limit and did not end by itself";
    assert_eq!(count(&sessions, "a").await, (1, Some(notice.to_owned())));
    assert_eq!(count(&sessions, "a").await, (2, None));
    let ids: Vec<String> = stage
        .launched
        .lock()
        .unwrap()
        .iter()
        .map(|spec| spec.session.to_string())
        .collect();
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn an_undelivered_notice_is_repeated() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    sessions.run(request("a", "lose")).await.expect("a result");
    let task = begin(&sessions, request("a", "hold gate")).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    let (runs, notice) = count(&sessions, "a").await;
    assert_eq!((runs, notice.is_some()), (2, true));
    assert_eq!(stage.cancelled.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_death_of_an_idle_guest_is_noticed() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    assert_eq!(count(&sessions, "a").await, (1, None));
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    stage.kill_idle();
    stage.until_alive(0).await;
    let notice = "session 'a' started afresh, its earlier variables and files are gone: \
                  its process ended between runs";
    assert_eq!(count(&sessions, "a").await, (1, Some(notice.to_owned())));
}

#[tokio::test]
async fn a_launch_that_fails_is_an_error_and_the_next_run_tries_again() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    stage.launches.lock().unwrap().push(Launch::Fail);
    let error = sessions.run(request("a", "say x")).await.expect_err("no guest");
    assert_eq!(error.to_string(), "the sandbox could not be started: as scripted");
    assert_eq!(count(&sessions, "a").await, (1, None));
}

#[tokio::test(start_paused = true)]
async fn a_hanging_launch_times_out() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    stage.launches.lock().unwrap().push(Launch::Hang);
    let error = sessions.run(request("a", "say x")).await.expect_err("no guest");
    assert_eq!(
        error.to_string(),
        "the sandbox could not be started: no guest within 30 s; the machine may be overloaded"
    );

    stage.launches.lock().unwrap().push(Launch::Hang);
    let run = request("a", "say x");
    let cancel = run.cancel.clone();
    let task = begin(&sessions, run).await;
    cancel.cancel();
    assert_eq!(
        task.await.unwrap().expect("a result").outcome.status,
        Status::Cancelled
    );
    assert_eq!(count(&sessions, "a").await, (1, None));
}

#[tokio::test]
async fn a_panic_of_the_backend_ends_one_session_only() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    stage.launches.lock().unwrap().push(Launch::Panic);
    let broken = begin(&sessions, request("a", "say x")).await;
    let error = broken.await.unwrap().expect_err("a panic");
    assert_eq!(
        error.to_string(),
        "session 'a' failed inside codeyard; run the program again"
    );
    assert_eq!(count(&sessions, "b").await, (1, None));
    assert_eq!(count(&sessions, "a").await.0, 1);
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_is_closed() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    count(&sessions, "a").await;
    tokio::time::sleep(SessionsConfig::default().idle_time - Duration::from_secs(1)).await;
    assert_eq!(count(&sessions, "a").await, (2, None));
    tokio::time::sleep(SessionsConfig::default().idle_time + Duration::from_secs(1)).await;
    assert_eq!(stage.alive.load(Ordering::SeqCst), 0);
    let notice = "session 'a' started afresh, its earlier variables and files are gone: \
                  it was closed after 30 minutes idle";
    assert_eq!(count(&sessions, "a").await, (1, Some(notice.to_owned())));
}

#[tokio::test(start_paused = true)]
async fn the_least_recently_used_session_makes_room() {
    let (sessions, stage) = sessions(SessionsConfig {
        max_sessions: 2,
        ..SessionsConfig::default()
    });
    count(&sessions, "a").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let busy = begin(&sessions, request("b", "hold gate")).await;
    count(&sessions, "c").await;
    stage.until_alive(2).await;
    let also_busy = begin(&sessions, request("c", "hold gate")).await;
    let error = sessions.run(request("a", "say x")).await.expect_err("no room");
    assert_eq!(
        error.to_string(),
        "all 2 open sessions are busy; wait for one to end or continue one by its name"
    );
    stage.open("gate");
    busy.await.unwrap().expect("a result");
    also_busy.await.unwrap().expect("a result");
    let (runs, notice) = count(&sessions, "a").await;
    assert_eq!(runs, 1);
    assert!(
        notice
            .expect("a notice")
            .ends_with("it was closed after idle time to make room for another session")
    );
}

fn granted(change: impl FnOnce(&mut Limits), named: &[Limit]) -> Granted {
    let mut limits = Limits::default();
    change(&mut limits);
    Granted {
        limits,
        named: named.to_vec(),
    }
}

#[tokio::test]
async fn a_run_and_its_session_have_their_own_limits() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    let with = |seconds: u64| {
        let mut request = request("a", "say x");
        request.spec.granted = granted(
            |limits| {
                limits.wall_time = Duration::from_secs(seconds);
                limits.host_calls = 5;
                limits.memory = 77;
            },
            &[Limit::WallTime, Limit::HostCalls, Limit::Memory],
        );
        request
    };
    sessions.run(with(3)).await.expect("a result");
    sessions.run(with(200)).await.expect("a result");
    sessions.run(request("a", "say x")).await.expect("a result");
    let runs = stage.runs.lock().unwrap().clone();
    let wall_times: Vec<u64> = runs.iter().map(|limits| limits.wall_time.as_secs()).collect();
    assert_eq!(wall_times, [3, 200, 60]);
    let calls: Vec<u32> = runs.iter().map(|limits| limits.host_calls).collect();
    assert_eq!(calls, [5, 5, 10_000]);
    let launched = stage.launched.lock().unwrap();
    assert_eq!(launched.len(), 1);
    assert_eq!(
        (launched[0].limits.memory, launched[0].limits.wall_time),
        (77, Limits::MAX_WALL_TIME)
    );
    assert_eq!(launched[0].first_code, "say x");
}

#[tokio::test]
async fn an_open_session_keeps_its_limits() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    let with = |memory: u64, code: &str| {
        let mut request = request("a", code);
        request.spec.granted = granted(|limits| limits.memory = memory << 20, &[Limit::Memory]);
        request
    };
    sessions.run(with(128, "say x")).await.expect("a result");
    let error = sessions.run(with(256, "say x")).await.expect_err("refused");
    assert_eq!(
        error.to_string(),
        "limits.memory: session 'a' is open with 128 MiB, not 256 MiB, and keeps it until it ends; leave `memory` out, \
         or open another session"
    );
    assert_eq!(stage.runs.lock().unwrap().len(), 1, "nothing has run");
    // The same value, or none, is accepted; the session continues.
    assert_eq!(
        sessions
            .run(with(128, "say x"))
            .await
            .expect("a result")
            .outcome
            .result,
        Some(json!(2))
    );
    assert_eq!(count(&sessions, "a").await.0, 3);
    // A new life of the session has the limits of its first run.
    sessions.run(request("a", "lose")).await.expect("a result");
    sessions.run(with(256, "say x")).await.expect("a result");
    let launched = stage.launched.lock().unwrap();
    let memory: Vec<u64> = launched.iter().map(|spec| spec.limits.memory >> 20).collect();
    assert_eq!(memory, [128, 256]);
}

#[tokio::test]
async fn only_a_run_of_a_free_session_takes_a_turn() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    let turns = Arc::new(Semaphore::new(2));
    let waits = |session: &str, code: &str| {
        let turns = turns.clone();
        RunRequest {
            turn: Some(Box::pin(async move {
                let turn: Box<dyn Send> = Box::new(turns.acquire_owned().await.expect("an open semaphore"));
                turn
            })),
            ..request(session, code)
        }
    };
    let first = begin(&sessions, waits("busy", "hold gate")).await;
    let _others = [
        begin(&sessions, waits("busy", "say x")).await,
        begin(&sessions, waits("busy", "say x")).await,
    ];
    // Runs that wait for the session hold no turn, so another session's run begins.
    let other = sessions.run(waits("other", "say x")).await.expect("a result");
    assert_eq!(other.outcome.status, Status::Completed);
    stage.open("gate");
    assert_eq!(
        first.await.unwrap().expect("a result").outcome.status,
        Status::Completed
    );
}

#[tokio::test]
async fn closing_ends_everything() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    count(&sessions, "idle").await;
    let running = begin(&sessions, request("busy", "hold gate")).await;
    let waiting = begin(&sessions, request("busy", "say never")).await;
    sessions.close().await;
    assert_eq!(
        running.await.unwrap().expect("a result").outcome.status,
        Status::Cancelled
    );
    let ending = "the program was not run: codeyard is ending, or its virtual server has changed; send the request \
                  again";
    assert_eq!(waiting.await.unwrap().expect_err("refused").to_string(), ending);
    assert_eq!(
        sessions
            .run(request("x", "say x"))
            .await
            .expect_err("refused")
            .to_string(),
        ending
    );
    assert_eq!(stage.alive.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_for_a_guest_that_never_ends() {
    let (sessions, stage) = sessions(SessionsConfig::default());
    let stuck = begin(&sessions, request("a", "ignore-everything")).await;
    let start = tokio::time::Instant::now();
    sessions.close().await;
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(stage.alive.load(Ordering::SeqCst), 0);
    assert!(stuck.await.unwrap().is_err());
}

/// A client's action with one run.
#[derive(Debug, Clone, Copy)]
enum Act {
    Say,
    Lose,
    CancelSoon,
    DropSoon,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Guests assert that they never have two runs at once, and none after their end.
    #[test]
    fn any_interleaving_gives_each_client_its_own_answer(
        acts in proptest::collection::vec((0..3u8, prop_oneof![
            6 => Just(Act::Say), 1 => Just(Act::Lose), 1 => Just(Act::CancelSoon), 1 => Just(Act::DropSoon)], 0..4u8), 1..40)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async move {
            let (sessions, stage) = sessions(SessionsConfig { max_sessions: 2, ..SessionsConfig::default() });
            let mut tasks = Vec::new();
            for (i, (session, act, pause)) in acts.into_iter().enumerate() {
                let code = match act {
                    Act::Lose => "lose".to_owned(),
                    Act::CancelSoon | Act::DropSoon => "hold-hard nobody".to_owned(),
                    Act::Say => format!("say {i}"),
                };
                let run = request(&format!("s{session}"), &code);
                let cancel = run.cancel.clone();
                let sessions = sessions.clone();
                let soon = Duration::from_millis(u64::from(pause));
                let task = tokio::spawn(async move {
                    match act {
                        Act::DropSoon => tokio::time::timeout(soon, sessions.run(run)).await.ok(),
                        Act::CancelSoon => {
                            tokio::spawn(async move {
                                tokio::time::sleep(soon).await;
                                cancel.cancel();
                            });
                            Some(sessions.run(run).await)
                        }
                        Act::Say | Act::Lose => Some(sessions.run(run).await),
                    }
                });
                tasks.push((i, act, task));
                tokio::time::sleep(Duration::from_micros(300)).await;
            }
            for (i, act, task) in tasks {
                match (act, task.await.expect("no panic")) {
                    (_, Some(Err(error))) => assert!(matches!(error, SessionError::TooManySessions { .. }), "{error}"),
                    (Act::Say, Some(Ok(result))) => {
                        assert_eq!((result.outcome.status, result.outcome.stdout.head), (Status::Completed, i.to_string()));
                    }
                    (Act::Lose, Some(Ok(result))) => assert_eq!(result.outcome.session, SessionFate::Lost),
                    (Act::CancelSoon, Some(Ok(result))) => assert_eq!(result.outcome.status, Status::Cancelled),
                    (Act::DropSoon, answer) => assert!(answer.is_none()),
                    (act, None) => panic!("{act:?} was dropped"),
                }
            }
            sessions.close().await;
            assert_eq!(stage.alive.load(Ordering::SeqCst), 0, "a guest outlived its session");
        });
    }
}

#[tokio::test(start_paused = true)]
async fn the_memory_of_idle_sessions_is_bounded() {
    let (sessions, _) = sessions(SessionsConfig {
        idle_memory: 2 * MEMORY,
        ..SessionsConfig::default()
    });
    for name in ["a", "b", "c"] {
        sessions.run(request(name, "say x")).await.expect("ran");
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
    let mut idle: Vec<String> = sessions
        .idle()
        .iter()
        .map(|one| one.session.to_string())
        .collect();
    idle.sort();
    assert_eq!(idle, ["b", "c"]);
    assert!(sessions.idle().iter().all(|one| one.memory == MEMORY));
    let again = sessions.run(request("a", "say x")).await.expect("ran");
    let notice = "session 'a' started afresh, its earlier variables and files are gone: it was closed while idle: \
                  idle sessions held more than 2 MiB of memory together";
    assert_eq!(again.notice.as_deref(), Some(notice));
}
