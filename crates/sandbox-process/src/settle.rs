//! The end of a run: what it started dies, and the guest's first process stands still with all of its threads.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::census;

/// How long threads may take to stop, and processes to die.
pub const DEADLINE: Duration = Duration::from_secs(2);
/// Time between two looks at them.
const PAUSE: Duration = Duration::from_millis(1);

/// Waits until all threads of a process that was told to stop have stopped.
///
/// # Errors
/// That they have not, after [`DEADLINE`].
pub async fn until_stopped(first: u32) -> Result<(), String> {
    wait(|| census::has_stopped(first))
        .await
        .map_err(|()| "its threads do not stop".to_owned())
}

/// Waits until nothing that came from `first` is alive, apart from `first` and `spared`.
///
/// # Errors
/// How many processes live on, after [`DEADLINE`].
pub async fn until_alone(first: u32, spared: u32) -> Result<(), String> {
    let others = || census::others(first, spared);
    wait(|| others().is_empty())
        .await
        .map_err(|()| format!("{} of its processes do not end", others().len()))
}

/// Kills what came from `first`, apart from `first` and `spared`, until nothing of it is alive.
///
/// # Errors
/// As [`until_alone`].
pub async fn until_killed(first: u32, spared: u32) -> Result<(), String> {
    let kill_others = || {
        let others = census::others(first, spared);
        others.iter().for_each(|pid| jail::signal::kill_number(*pid));
        others
    };
    wait(|| kill_others().is_empty()).await.map_err(|()| {
        format!(
            "{} of its processes do not end",
            census::others(first, spared).len()
        )
    })
}

async fn wait(mut done: impl FnMut() -> bool) -> Result<(), ()> {
    let deadline = Instant::now() + DEADLINE;
    while !done() {
        if Instant::now() > deadline {
            return Err(());
        }
        sleep(PAUSE).await;
    }
    Ok(())
}
