//! Drives a run until it ends: starts the run in its turn, sends progress, and cancels when the client cancels.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use broker::{RunClient, RunPerson};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use types::Activity;

use crate::paused_calls::Questions;
use crate::{person, request};

/// Interval of progress notifications. Clients time out only after a much longer silence.
const INTERVAL: Duration = Duration::from_millis(500);

/// The client of a run, and the progress notifications; `None` if the client sent no progress token.
pub(crate) fn client(context: &RequestContext<RoleServer>) -> (RunClient, Option<Progress>) {
    let person = person::of(context).map(|person| Arc::new(RunPerson::new(person)));
    let (activity, progress) = match context.meta.get_progress_token() {
        Some(token) => {
            let (sender, activity) = watch::channel(Activity::default());
            (
                Some(sender),
                Some(Progress {
                    token,
                    activity,
                    questions: context.extensions.get().cloned(),
                }),
            )
        }
        None => (None, None),
    };
    (RunClient { activity, person }, progress)
}

#[derive(Debug)]
pub(crate) struct Progress {
    token: ProgressToken,
    activity: watch::Receiver<Activity>,
    /// Of a call that can pause.
    questions: Option<Questions>,
}

/// Drives a run until it ends. Cancels it when the client cancels the call or `closed` is triggered.
pub(crate) async fn drive<R: Future>(
    context: &RequestContext<RoleServer>,
    closed: &CancellationToken,
    cancel: CancellationToken,
    progress: Option<Progress>,
    run: R,
) -> R::Output {
    tokio::pin!(run);
    if let Some(output) = start(context, run.as_mut()).await {
        return output;
    }
    let progress = report(&context.peer, progress);
    tokio::pin!(progress);
    loop {
        tokio::select! {
            output = &mut run => return output,
            // A separate branch: a client that does not read its progress must not delay the run.
            () = &mut progress => {}
            () = request::cancelled(context, closed), if !cancel.is_cancelled() => cancel.cancel(),
        }
    }
}

/// Polls a run for the first time after every earlier call of the client has started. So session queues keep the
/// client's order. Returns the output of a run that ends at once.
async fn start<R: Future>(context: &RequestContext<RoleServer>, mut run: Pin<&mut R>) -> Option<R::Output> {
    request::turn(context).await;
    let polled = poll_fn(|context| Poll::Ready(run.as_mut().poll(context))).await;
    request::release(context);
    match polled {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Sends progress notifications while polled. Never ends.
async fn report(peer: &Peer<RoleServer>, progress: Option<Progress>) {
    if let Some(Progress {
        token,
        activity,
        questions,
    }) = progress
    {
        let start = tokio::time::Instant::now();
        let mut ticks = tokio::time::interval_at(start + INTERVAL, INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            if questions.as_ref().is_some_and(Questions::has_paused) {
                break;
            }
            let seconds = start.elapsed().as_secs_f64();
            let progress = ProgressNotificationParam::new(token.clone(), (seconds * 10.0).round() / 10.0)
                .with_message(message(seconds, &activity.borrow()));
            if peer.notify_progress(progress).await.is_err() {
                break;
            }
        }
    }
    std::future::pending().await
}

/// The message, such as `running for 1.5 s; 3 calls, last git.git_log`.
fn message(seconds: f64, activity: &Activity) -> String {
    let activity = activity.to_string();
    let separator = if activity.is_empty() { "" } else { "; " };
    format!("running for {seconds:.1} s{separator}{activity}")
}
