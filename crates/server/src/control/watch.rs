//! Keeps the servers of a process in step with the configuration.

use std::time::Duration;

use broker::Broker;
use registry::{DefinitionWatcher, Reload};

use super::Facts;
use crate::files::blocking;

const PERIOD: Duration = Duration::from_secs(1);

/// Adopts changes until dropped. A broken file changes nothing and is reported once.
pub(super) async fn follow(mut reread: DefinitionWatcher, broker: Broker, facts: Facts) {
    loop {
        tokio::time::sleep(PERIOD).await;
        let looked = blocking(move || {
            let reloaded = reread.poll();
            (reread, reloaded)
        });
        let Some((returned, reloaded)) = looked.await else {
            tracing::warn!("the configuration is no longer watched: the thread that read it failed");
            return;
        };
        reread = returned;
        if let Some(reloaded) = reloaded {
            take_over(reloaded, &broker, &facts);
        }
    }
}

fn take_over(reloaded: Reload, broker: &Broker, facts: &Facts) {
    for warning in &reloaded.warnings {
        tracing::warn!("{warning}");
    }
    match reloaded.servers {
        Ok(servers) => {
            tracing::info!(
                servers = servers.len(),
                "the configuration has changed and was read again"
            );
            broker.replace(servers);
            facts.set_left_out(reloaded.left_out.iter().map(ToString::to_string).collect());
            facts.set_broken(None);
        }
        Err(mistakes) => {
            tracing::warn!(
                "the configuration has changed and is wrong; the servers stay as they were: {mistakes}"
            );
            facts.set_broken(Some(mistakes.to_string()));
        }
    }
}
