//! Few random operations of two groups of users; `cargo xtask soak isolation` does 20,000.

use test_support::{IsolationScale, isolation};

#[tokio::test]
async fn s0_82_nothing_crosses_between_two_groups_on_two_processes() {
    let scale = IsolationScale {
        operations: 200,
        clients: 4,
        members: 6,
        pairs: 0,
    };
    let report = isolation(scale, 23).await.unwrap();
    assert!(report.wrong.is_empty(), "{report:#?}");
}
