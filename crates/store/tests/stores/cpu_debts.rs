//! CPU time through `CpuDebts`: debts drain at the quota's rate, and charges of all processes count.

use std::time::Duration;

use store::accounts::Moment;
use store::cpu_debts::{CpuDebts, CpuQuota};

use crate::places::in_each;

fn quota(key: &str, seconds_per_minute: u32) -> CpuQuota {
    CpuQuota {
        key: key.to_owned(),
        seconds_per_minute,
    }
}

#[tokio::test]
async fn what_is_used_drains_at_the_rate_of_the_quota() {
    in_each(async |place| {
        let debts = CpuDebts::new(place.database.clone());
        let ann = quota("ann", 6);
        let check = async |quota: &CpuQuota, at_ms: i64, expected_ms: u64| {
            let used = debts.used(quota, Moment::At(at_ms)).await;
            assert_eq!(used, Ok(Duration::from_millis(expected_ms)), "{quota:?} {at_ms}");
        };
        let add = async |quota: &CpuQuota, at_ms: i64, ms: u64| {
            let added = debts
                .add(quota, Duration::from_millis(ms), Moment::At(at_ms))
                .await;
            assert_eq!(added, Ok(()));
        };
        check(&ann, 0, 0).await;
        add(&ann, 1000, 10_000).await;
        check(&ann, 1000, 10_000).await;
        // 6 s a minute drain 0.1 s each second.
        check(&ann, 31_000, 7000).await;
        add(&ann, 31_000, 1000).await;
        check(&ann, 31_000, 8000).await;
        check(&ann, 111_000, 0).await;
        check(&ann, i64::MAX / 2, 0).await;
        add(&ann, 111_000, 500).await;
        check(&ann, 111_000, 500).await;
        check(&quota("bob", 6), 111_000, 0).await;
        // Another rate drains the same time faster, and a clock that is set back drains nothing at once.
        check(&quota("ann", 60), 111_250, 250).await;
        check(&ann, 5, 500).await;
        check(&ann, 2505, 250).await;
        add(&ann, 5, 500).await;
        check(&ann, 5, 1000).await;
        check(&ann, 5005, 500).await;
        let most = quota("most", 100_000);
        add(&most, 0, 3_600_000).await;
        check(&most, 9_000_000_000, 0).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn charges_at_one_time_all_count() {
    in_each(async |place| {
        let debts: Vec<_> = (0..3).map(|_| CpuDebts::new(place.database.clone())).collect();
        let ann = quota("ann", 1);
        // Create the tables before the race.
        assert_eq!(debts[0].used(&ann, Moment::At(0)).await, Ok(Duration::ZERO));
        let tasks: Vec<_> = (0..30)
            .map(|number| {
                let (debts, ann) = (debts[number % 3].clone(), ann.clone());
                tokio::spawn(async move { debts.add(&ann, Duration::from_millis(7), Moment::At(0)).await })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.expect("a task"), Ok(()));
        }
        let used = debts[1].used(&ann, Moment::At(0)).await;
        assert_eq!(used, Ok(Duration::from_millis(210)));
    })
    .await;
}
