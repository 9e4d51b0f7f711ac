//! Shows, in a session, that this interpreter works when its after-fork hooks are skipped; only then are they.

use std::sync::Arc;
use std::time::Duration;

use sandbox::{Conversation, Run};
use types::Limits;

use crate::provisions::Provisions;
use crate::station::Station;

/// Uses everything that depends on the state the hooks would have mended.
const PROGRAM: &str = include_str!("selftest.py");
/// Sessions in which it must fail before anybody is told.
const ATTEMPTS: usize = 2;
/// A machine under load takes its time; a deadlock takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the self-test in a session that skips the hooks; if it passes, later sessions skip them too.
pub async fn run(station: Arc<Station>, provisions: Arc<Provisions>, limits: Limits) {
    let mut last = String::new();
    // When codeyard ends, the control group of a session under way goes, and its processes fail. A second session tells that
    // from an interpreter that cannot do without its hooks: none can be started then.
    for _ in 0..ATTEMPTS {
        let Ok((channels, leash)) = station.start_without_hooks(&provisions, &limits).await else {
            return;
        };
        let guest = Conversation::new(channels, leash, limits.clone(), "self-test".to_owned());
        let limits = Limits {
            wall_time: PATIENCE,
            ..Limits::default()
        };
        match sandbox::ask(Box::new(guest), Run::of(PROGRAM, limits.clone())).await {
            Ok(_) => return station.skip_hooks(),
            Err(_) if provisions.is_closed() => return,
            Err(error) => last = error,
        }
    }
    tracing::warn!(
        python = station.greeting.python,
        error = last,
        "the self-test failed: sessions run the interpreter's after-fork hooks and start slower"
    );
}
