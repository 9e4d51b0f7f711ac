//! What every surface does around a run: its turn, its progress, the client's cancellation.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, ProgressNotificationParam, ProgressToken, ProtocolVersion};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use types::Activity;

use crate::stdio::Turn;

/// Between two progress notifications; well below the time after which clients give up.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// Methods that exist and fail to decode: their parameters are wrong, not their name.
const KNOWN_METHODS: [&str; 7] = [
    "initialize",
    "server/discover",
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
];

/// Answers a call whatever happens in it: one that panics would get no answer at all.
pub(crate) async fn answered<T>(call: impl Future<Output = T>) -> Result<T, ErrorData> {
    let answered = AssertUnwindSafe(call).catch_unwind().await;
    answered.map_err(|_| ErrorData::internal_error("codeyard failed while it answered the call", None))
}

/// Waits until every earlier call of the connection has begun.
pub(crate) async fn turn(context: &RequestContext<RoleServer>) {
    if let Some(turn) = context.extensions.get::<Turn>() {
        turn.come().await;
    }
}

/// Lets the next call of the connection begin, for a call that no session's queue has to wait for.
pub(crate) fn leave(context: &RequestContext<RoleServer>) {
    if let Some(turn) = context.extensions.get::<Turn>() {
        turn.take();
    }
}

/// What a client has asked to hear of a run, from its ends: nothing where it gave no token of progress.
pub(crate) fn activity(
    context: &RequestContext<RoleServer>,
) -> (Option<watch::Sender<Activity>>, Option<Progress>) {
    match context.meta.get_progress_token() {
        Some(token) => {
            let (activity, watched) = watch::channel(Activity::default());
            (Some(activity), Some(Progress { token, watched }))
        }
        None => (None, None),
    }
}

/// What a client is told of a run while it goes on.
#[derive(Debug)]
pub(crate) struct Progress {
    token: ProgressToken,
    watched: watch::Receiver<Activity>,
}

/// Drives a run in its turn to its end. `cancel` is triggered when the client cancels the call or when `closed` is.
pub(crate) async fn drive<R: Future>(
    context: &RequestContext<RoleServer>,
    closed: &CancellationToken,
    cancel: CancellationToken,
    progress: Option<Progress>,
    run: R,
) -> R::Output {
    tokio::pin!(run);
    let mut begun = begin(context, run.as_mut()).await;
    let progress = report_progress(&context.peer, progress);
    tokio::pin!(progress);
    loop {
        if let Some(ran) = begun.take() {
            return ran;
        }
        tokio::select! {
            ran = &mut run => return ran,
            // A client that does not read its progress must not hold up the run, so this is a branch beside it.
            () = &mut progress => {}
            () = context.ct.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
            () = closed.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
        }
    }
}

/// Begins a run when every earlier call of the connection has begun, so that a session's queue has the order in
/// which the client wrote. Returns what came of it if that is known at once.
async fn begin<R: Future>(context: &RequestContext<RoleServer>, mut run: Pin<&mut R>) -> Option<R::Output> {
    turn(context).await;
    let begun = poll_fn(|context| Poll::Ready(run.as_mut().poll(context))).await;
    leave(context);
    match begun {
        Poll::Ready(ran) => Some(ran),
        Poll::Pending => None,
    }
}

/// Tells the client that the run goes on and what it does, as long as it is polled; never ends.
async fn report_progress(peer: &Peer<RoleServer>, progress: Option<Progress>) {
    if let Some(Progress { token, watched }) = progress {
        let start = tokio::time::Instant::now();
        let mut ticks = tokio::time::interval_at(start + PROGRESS_EVERY, PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            let seconds = start.elapsed().as_secs_f64();
            let progress = ProgressNotificationParam::new(token.clone(), (seconds * 10.0).round() / 10.0)
                .with_message(message(seconds, &watched.borrow()));
            if peer.notify_progress(progress).await.is_err() {
                break;
            }
        }
    }
    std::future::pending().await
}

/// `running for 1.5 s; 3 calls, last git.git_log`.
fn message(seconds: f64, activity: &Activity) -> String {
    let activity = activity.to_string();
    let separator = if activity.is_empty() { "" } else { "; " };
    format!("running for {seconds:.1} s{separator}{activity}")
}

/// Whether the request is one of the modern era.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// The answer to a request that the library does not know or could not decode.
pub(crate) fn not_understood(method: &str, is_modern: bool) -> ErrorData {
    // That one is of the legacy era only.
    let is_known = KNOWN_METHODS.contains(&method) && !(is_modern && method == "initialize");
    if is_known {
        return ErrorData::invalid_params(
            format!("Invalid params: `params` of {method} is not as the protocol has it"),
            None,
        );
    }
    ErrorData::new(
        ErrorCode::METHOD_NOT_FOUND,
        format!("Method not found: {method}"),
        None,
    )
}
