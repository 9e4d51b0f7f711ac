//! Random operations of two groups of users over two gateways: no crossings, and equal answers for unknown and
//! foreign ids.

use anyhow::{Context, Result};
use fastrand::Rng;
use test_support::{IsolationScale, isolation};

use super::scale::Scale;
use super::watch::{Verdict, Watch};

/// Users of each group; enough that rate limits on refused requests allow many comparisons.
const MEMBERS: usize = 12;
/// Pairs of timed requests of each kind.
const PAIRS: usize = 1_000;

pub async fn random_operations(scale: Scale, rng: &mut Rng) -> Result<Verdict> {
    let title = format!("{} random operations of two groups over two gateways", scale.runs);
    let mut watch = Watch::begin(title, 0, Vec::new());
    let is_short = scale.runs < Scale::WHOLE.runs;
    let extent = IsolationScale {
        operations: scale.runs,
        clients: usize::try_from(scale.clients).context("few clients")?,
        members: MEMBERS,
        pairs: if is_short { PAIRS / 10 } else { PAIRS },
    };
    let report = isolation(extent, rng.u64(..)).await?;
    for (name, figure) in report.figures {
        watch.state(&name, figure);
    }
    watch.complain(report.wrong);
    Ok(watch.end().await)
}
