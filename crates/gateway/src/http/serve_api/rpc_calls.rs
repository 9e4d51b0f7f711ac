//! Requests to `/rpc` that are under way, so that their clients can cancel them.

use parking_lot::Mutex;
use rest::RpcId;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// Requests of one principal that are under way, for `notifications/cancelled`.
#[derive(Debug, Default)]
pub(super) struct RpcCalls {
    under_way: Mutex<Vec<(RpcId, CancellationToken)>>,
}

/// Removes a request when it has its answer, or when its client has left.
pub(super) struct UnderWay<'a> {
    calls: &'a RpcCalls,
    pub(super) cancel: CancellationToken,
}

// === impl RpcCalls ===

impl RpcCalls {
    pub(super) fn begin(&self, id: RpcId) -> UnderWay<'_> {
        let cancel = CancellationToken::new();
        self.under_way.lock().push((id, cancel.clone()));
        UnderWay { calls: self, cancel }
    }

    /// Cancels the requests with this id.
    pub(super) fn cancel(&self, params: &Map<String, Value>) {
        let id = params.get("requestId").cloned();
        let Some(id) = id.and_then(|id| serde_json::from_value::<RpcId>(id).ok()) else {
            return;
        };
        let under_way = self.under_way.lock();
        let named = under_way.iter().filter(|(other, _)| *other == id);
        named.for_each(|(_, cancel)| cancel.cancel());
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        // Nobody else cancels this token any more, so its identity is told by cancelling it.
        self.cancel.cancel();
        self.calls
            .under_way
            .lock()
            .retain(|(_, cancel)| !cancel.is_cancelled());
    }
}
