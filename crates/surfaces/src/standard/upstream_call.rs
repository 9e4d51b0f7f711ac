//! One request to a server that is under way: its progress, what the server asks, and its answer.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use upstream::RelayRequest;
use upstream_wire::JsonRpcError;

use super::input_router::{InputRequest, OpenRequestGuard};
use super::service::StandardService;
use crate::error::RequestError;

/// Progress notifications that wait for the client.
const PROGRESS_QUEUE: usize = 32;

/// A request under way. Dropping it cancels the request.
#[derive(Debug)]
pub(super) struct UpstreamCall {
    answer: JoinHandle<Result<Box<RawValue>, JsonRpcError>>,
    _cancel: DropGuard,
    progress: mpsc::Receiver<Value>,
    input: mpsc::Receiver<InputRequest>,
    open: Option<OpenRequestGuard>,
}

/// What comes from the server.
#[derive(Debug)]
pub(super) enum Event {
    /// The parameters of a progress notification.
    Progress(Value),
    /// The server asks the client.
    Input(InputRequest),
    /// The result or error, which is last.
    Answer(Result<Box<RawValue>, RequestError>),
}

impl UpstreamCall {
    /// Sends the request. `open` is its entry in the input router, for a client that can be asked in the answer.
    pub(super) fn start<S: StandardService>(
        service: &Arc<S>,
        mut request: RelayRequest,
        open: Option<(OpenRequestGuard, mpsc::Receiver<InputRequest>)>,
    ) -> UpstreamCall {
        let (sender, progress) = mpsc::channel(PROGRESS_QUEUE);
        request.progress = Some(sender);
        let (open, input) = match open {
            Some((open, input)) => (Some(open), input),
            None => (None, mpsc::channel(1).1),
        };
        let service = Arc::clone(service);
        let cancel = CancellationToken::new();
        let cancelled = cancel.clone();
        // Cancelled rather than aborted, so that the request records its end.
        let answer = tokio::spawn(async move { service.relay(request, cancelled).await });
        UpstreamCall {
            answer,
            _cancel: cancel.drop_guard(),
            progress,
            input,
            open,
        }
    }

    /// The next event. Progress comes before the answer.
    pub(super) async fn next(&mut self) -> Event {
        tokio::select! {
            biased;
            Some(progress) = self.progress.recv() => Event::Progress(progress),
            answer = &mut self.answer => Event::Answer(match answer {
                Ok(answer) => answer.map_err(RequestError::Upstream),
                Err(failed) => Err(failed.into()),
            }),
            Some(request) = self.input.recv() => Event::Input(request),
        }
    }

    /// Notes that the client was asked for input.
    pub(super) fn suspend(&self) {
        self.open.iter().for_each(OpenRequestGuard::suspend);
    }

    /// Notes that the client has returned with its input.
    pub(super) fn resume(&self) {
        self.open.iter().for_each(OpenRequestGuard::resume);
    }

    /// A further request for input that has arrived already.
    pub(super) fn try_input(&mut self) -> Option<InputRequest> {
        self.input.try_recv().ok()
    }
}
