//! Rate limits through `RateWindows`: no window exceeds its limit, over several connections on Postgres.

use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use store::accounts::Moment;
use store::rate_windows::RateDecision;
use store::{Database, RateWindows};

use crate::places::{Place, in_each};

const WINDOW: Duration = Duration::from_secs(60);

fn windows(place: &Place) -> RateWindows {
    RateWindows::new(place.database.clone())
}

/// One per process on Postgres; on SQLite, one for all.
fn several<const N: usize>(place: &Place) -> [RateWindows; N] {
    match place.database {
        Database::Sqlite(_) => {
            let only = windows(place);
            std::array::from_fn(|_| only.clone())
        }
        Database::Postgres(_) => std::array::from_fn(|_| windows(place)),
    }
}

fn until(ms: u64) -> RateDecision {
    RateDecision::Until(Duration::from_millis(ms))
}

#[tokio::test]
async fn s0_47_a_window_slides() {
    in_each(async |place| {
        let windows = windows(place);
        let check = async |key: &str, most: u32, at_ms: i64, expected: RateDecision| {
            let taken = windows.take(key, most, WINDOW, Moment::At(at_ms)).await;
            assert_eq!(taken, Ok(expected), "{key} {most} {at_ms}");
        };
        check("a", 0, 0, until(60_000)).await;
        check("a", 2, 0, RateDecision::Granted).await;
        check("a", 2, 30_000, RateDecision::Granted).await;
        check("a", 2, 30_000, until(30_000)).await;
        check("a", 2, 59_999, until(1)).await;
        check("b", 2, 59_999, RateDecision::Granted).await;
        check("a", 2, 60_000, RateDecision::Granted).await;
        check("a", 2, 60_000, until(30_000)).await;
        // Another limit counts the same grants.
        check("a", 1, 60_001, until(59_999)).await;
        check("a", 3, 60_001, RateDecision::Granted).await;
        check("A", 1, 60_001, RateDecision::Granted).await;
    })
    .await;
}

#[tokio::test]
async fn when_the_clock_is_set_back_nobody_waits_longer_than_a_window() {
    in_each(async |place| {
        let windows = windows(place);
        let take = async |at_ms| windows.take("a", 2, WINDOW, Moment::At(at_ms)).await;
        for at_ms in [9_000_000, 9_000_001] {
            assert_eq!(take(at_ms).await, Ok(RateDecision::Granted));
        }
        assert_eq!(take(1000).await, Ok(until(60_000)));
        assert_eq!(take(31_000).await, Ok(until(30_000)));
        assert_eq!(take(61_000).await, Ok(RateDecision::Granted));
    })
    .await;
}

/// The simplest model: granted if the window holds fewer than `most` earlier grants.
fn expected(granted: &mut Vec<u64>, most: usize, window: u64, now: u64) -> RateDecision {
    let inside: Vec<u64> = granted.iter().copied().filter(|at| at + window > now).collect();
    if inside.len() < most {
        granted.push(now);
        return RateDecision::Granted;
    }
    until(inside[inside.len() - most] + window - now)
}

#[tokio::test]
async fn no_window_of_any_key_holds_more_than_allowed() {
    in_each(async |place| {
        let connections = several::<2>(place);
        let mut runner = TestRunner::default();
        let steps = proptest::collection::vec((0..2_usize, 0..3_usize, 0..40_u64), 60);
        for case in 0..6 {
            let (steps, most) = (steps.clone(), 1..5_u32)
                .new_tree(&mut runner)
                .expect("steps")
                .current();
            let mut granted = vec![Vec::new(); 3];
            let mut now = 0;
            for (connection, key, pause) in &steps {
                now += pause;
                let moment = Moment::At(now.cast_signed());
                let window = Duration::from_millis(100);
                let name = format!("{case} {key}");
                let taken = connections[*connection].take(&name, most, window, moment).await;
                let expected = expected(&mut granted[*key], most as usize, 100, now);
                assert_eq!(taken, Ok(expected), "{most} {now} {steps:?}");
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_at_one_time_are_granted_as_often_as_allowed() {
    in_each(async |place| {
        let connections = several::<3>(place);
        // Create the tables before the race.
        let first = connections[0].take("other", 1, WINDOW, Moment::Database).await;
        assert_eq!(first, Ok(RateDecision::Granted));
        let tasks: Vec<_> = (0..60)
            .map(|number| {
                let windows = connections[number % 3].clone();
                tokio::spawn(async move { windows.take("a", 7, WINDOW, Moment::Database).await })
            })
            .collect();
        let mut granted = 0;
        for task in tasks {
            match task.await.expect("a task").expect("a database") {
                RateDecision::Granted => granted += 1,
                RateDecision::Until(wait) => assert!(wait <= WINDOW && !wait.is_zero(), "{wait:?}"),
            }
        }
        assert_eq!(granted, 7);
    })
    .await;
}

#[tokio::test]
async fn a_process_that_starts_counts_what_the_one_before_granted() {
    in_each(async |place| {
        let before = windows(place);
        for _ in 0..3 {
            let taken = before.take("a", 3, WINDOW, Moment::Database).await;
            assert_eq!(taken, Ok(RateDecision::Granted));
        }
        before.close().await;
        let taken = windows(place).take("a", 3, WINDOW, Moment::Database).await;
        assert!(
            matches!(taken, Ok(RateDecision::Until(wait)) if wait <= WINDOW),
            "{taken:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn rows_go_when_their_windows_are_over() {
    in_each(async |place| {
        let windows = windows(place);
        let window = Duration::from_millis(10);
        for at_ms in 0..300 {
            let key = format!("k{at_ms}");
            let taken = windows.take(&key, 1, window, Moment::At(at_ms)).await;
            assert_eq!(taken, Ok(RateDecision::Granted));
        }
        windows.close().await;
        let rows = place.number("SELECT COUNT(*) FROM rate_grants").await;
        assert!(rows <= 74, "{rows}");
    })
    .await;
}
