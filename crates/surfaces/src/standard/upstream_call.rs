//! One active request to a server: its progress, the server's questions, and its response.

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

/// Queued progress notifications.
const PROGRESS_QUEUE: usize = 32;

/// Dropping the call cancels the request.
#[derive(Debug)]
pub(super) struct UpstreamCall {
    answer: JoinHandle<Result<Box<RawValue>, JsonRpcError>>,
    _cancel: DropGuard,
    progress: mpsc::Receiver<Value>,
    input: mpsc::Receiver<InputRequest>,
    open: Option<OpenRequestGuard>,
}

#[derive(Debug)]
pub(super) enum Event {
    /// Parameters of a progress notification.
    Progress(Value),
    Input(InputRequest),
    /// The result or error, always last.
    Answer(Result<Box<RawValue>, RequestError>),
}

impl UpstreamCall {
    /// Sends the request. `open` is its entry in the input router, if the client receives questions in responses.
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
        // Cancelled, not aborted, so that the request records its end.
        let answer = tokio::spawn(async move { service.relay(request, cancelled).await });
        UpstreamCall {
            answer,
            _cancel: cancel.drop_guard(),
            progress,
            input,
            open,
        }
    }

    /// The next event; progress precedes the response.
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

    pub(super) fn suspend(&self) {
        self.open.iter().for_each(OpenRequestGuard::suspend);
    }

    /// Marks that the client has returned with its input.
    pub(super) fn resume(&self) {
        self.open.iter().for_each(OpenRequestGuard::resume);
    }

    /// Another request for input, if one has already arrived.
    pub(super) fn try_input(&mut self) -> Option<InputRequest> {
        self.input.try_recv().ok()
    }
}
