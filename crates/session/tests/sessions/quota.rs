//! A quota over the sessions of several virtual servers.

use std::sync::Arc;
use std::time::Duration;

use session::{RunRequest, SessionQuota, Sessions, SessionsConfig};

use crate::begin;
use crate::fake::{Stage, request};

/// Sessions of two virtual servers under one quota.
fn servers(most: usize, most_of_user: usize) -> ([Sessions; 2], Arc<Stage>) {
    let stage = Arc::new(Stage::default());
    let quota = SessionQuota::new(most, most_of_user);
    let servers = [(); 2].map(|()| stage.sessions(SessionsConfig::default(), Some(quota.clone())));
    (servers, stage)
}

fn of(user: &str, session: &str, code: &str) -> RunRequest {
    RunRequest {
        principal: user.parse().expect("a principal"),
        ..request(session, code)
    }
}

/// Runs a program after a short pause; returns its notice or the refusal.
async fn run(sessions: &Sessions, user: &str, session: &str) -> Result<Option<String>, String> {
    tokio::time::sleep(Duration::from_millis(10)).await;
    let ran = sessions.run(of(user, session, "say x")).await;
    ran.map(|result| result.notice).map_err(|error| error.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_user_s_oldest_idle_session_makes_room_at_any_server() {
    let ([one, other], stage) = servers(100, 2);
    run(&one, "ann", "a").await.expect("room");
    run(&other, "bob", "b").await.expect("room");
    run(&other, "ann", "c").await.expect("room");
    run(&other, "ann", "d").await.expect("room");
    stage.until_alive(3).await;
    let lost = run(&one, "ann", "a").await.expect("room").expect("a notice");
    assert!(lost.ends_with("to make room for another session"), "{lost}");
    assert_eq!(
        run(&other, "bob", "b").await,
        Ok(None),
        "another user's session stays"
    );
}

#[tokio::test(start_paused = true)]
async fn busy_sessions_stay_and_a_further_session_is_refused() {
    let ([one, other], stage) = servers(3, 2);
    let busy = [
        begin(&one, of("ann", "a", "hold gate")).await,
        begin(&other, of("ann", "b", "hold gate")).await,
    ];
    let refused = run(&one, "ann", "c").await.expect_err("a refusal");
    assert!(refused.starts_with("all 2 open sessions are busy"), "{refused}");
    let bob = begin(&one, of("bob", "a", "hold gate")).await;
    let refused = run(&one, "eve", "a").await.expect_err("a refusal");
    assert!(
        refused.starts_with("all 3 sessions that this codeyard may open"),
        "{refused}"
    );
    stage.open("gate");
    for task in busy.into_iter().chain([bob]) {
        task.await.expect("a task").expect("a result");
    }
    // Further runs of open sessions need no place.
    assert_eq!(run(&one, "ann", "a").await, Ok(None));
    assert_eq!(run(&one, "eve", "a").await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn ended_sessions_release_their_places() {
    let ([one, other], stage) = servers(2, 2);
    for round in 0..3 {
        run(&one, "ann", &format!("a{round}")).await.expect("room");
        run(&one, "ann", &format!("b{round}")).await.expect("room");
        one.dismiss(&"ann".parse().expect("a principal")).await;
        stage.until_alive(0).await;
    }
    let busy = begin(&other, of("ann", "a", "hold gate")).await;
    assert_eq!(run(&one, "bob", "b").await, Ok(None));
    one.close().await;
    drop(one);
    assert_eq!(run(&other, "bob", "c").await, Ok(None));
    stage.open("gate");
    busy.await.expect("a task").expect("a result");
}
