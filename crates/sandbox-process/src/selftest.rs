//! Tests in a session whether the interpreter works without its after-fork hooks.
//!
//! Sessions skip the hooks only if the test passes.

use std::sync::Arc;
use std::time::Duration;

use sandbox::{Conversation, Run};
use types::Limits;

use crate::resources::ResourcePool;
use crate::zygote::Zygote;

/// A program that uses every feature whose state the hooks repair.
const PROGRAM: &str = include_str!("selftest.py");
/// Sessions in which the test must fail before a warning.
const ATTEMPTS: usize = 2;
/// Time limit of the test on a machine under load.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Runs the self-test in a session that skips the hooks; if it passes, later sessions skip them too.
pub async fn run(zygote: Arc<Zygote>, resources: Arc<ResourcePool>, limits: Limits) {
    let mut last = String::new();
    // When codeyard ends, it removes the session's control group, and the test fails. The second attempt then cannot
    // start a session. With an interpreter that needs its hooks, the second attempt starts and fails again.
    for _ in 0..ATTEMPTS {
        let Ok((channels, processes)) = zygote.start_without_hooks(&resources, &limits).await else {
            return;
        };
        let guest = Conversation::new(channels, processes, limits.clone(), "self-test".to_owned());
        let limits = Limits {
            wall_time: TIMEOUT,
            ..Limits::default()
        };
        match sandbox::ask(Box::new(guest), Run::of(PROGRAM, limits.clone())).await {
            Ok(_) => return zygote.skip_hooks(),
            Err(_) if resources.is_closed() => return,
            Err(error) => last = error,
        }
    }
    tracing::warn!(
        interpreter = zygote.greeting.interpreter,
        error = last,
        "the self-test failed: sessions run the interpreter's after-fork hooks and start slower"
    );
}
