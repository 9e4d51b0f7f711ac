//! Requests to `/rpc` in flight, so that their clients can cancel them.

use identity::TokenId;
use parking_lot::Mutex;
use rest::RpcId;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// Requests of one principal in flight, for `notifications/cancelled`.
#[derive(Debug, Default)]
pub(super) struct RpcCalls {
    state: Mutex<RpcState>,
}

#[derive(Debug, Default)]
struct RpcState {
    newest: u64,
    calls: Vec<RpcCall>,
}

#[derive(Debug)]
struct RpcCall {
    number: u64,
    /// Different tokens may use the same ids.
    token: TokenId,
    id: RpcId,
    cancel: CancellationToken,
}

/// Removes a request when it is answered, or its client has left.
pub(super) struct UnderWay<'a> {
    calls: &'a RpcCalls,
    number: u64,
    pub(super) cancel: CancellationToken,
}

// === impl RpcCalls ===

impl RpcCalls {
    pub(super) fn begin(&self, token: &TokenId, id: RpcId) -> UnderWay<'_> {
        let cancel = CancellationToken::new();
        let mut state = self.state.lock();
        state.newest += 1;
        let number = state.newest;
        state.calls.push(RpcCall {
            number,
            token: token.clone(),
            id,
            cancel: cancel.clone(),
        });
        UnderWay {
            calls: self,
            number,
            cancel,
        }
    }

    /// Cancels the token's requests with this id.
    pub(super) fn cancel(&self, token: &TokenId, params: &Map<String, Value>) {
        let id = params.get("requestId").cloned();
        let Some(id) = id.and_then(|id| serde_json::from_value::<RpcId>(id).ok()) else {
            return;
        };
        let state = self.state.lock();
        let named = state
            .calls
            .iter()
            .filter(|call| call.token == *token && call.id == id);
        named.for_each(|call| call.cancel.cancel());
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.calls
            .state
            .lock()
            .calls
            .retain(|call| call.number != self.number);
    }
}
