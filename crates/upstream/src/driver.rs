//! The task that owns one server: starts it when asked, keeps its list, notices its end, and ends it.
//!
//! ```text
//!          Start                 greeted
//!   Idle ─────────► Starting ─────────────► Running
//!    Failed ──────►    │                       │
//!    ▲ ▲  after        │ no greeting           │ it ended
//!    │ │  retry_at     ▼                       ▼
//!    │ └──────────── Failed ◄──────────────────┤          Stop, from anywhere ──► Closed
//!    └─────────────────────────────────────────┘
//!         nobody has called it for a while, or it has kept silent again and again
//! ```

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, SubscriptionFilter, SubscriptionsListenRequest, SubscriptionsListenRequestParams,
};
use rmcp::service::PeerRequestOptions;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use crate::connection::Connection;
use crate::error::UpstreamError;
use crate::handshake::Greeting;
use crate::hub::Era;
use crate::link::{Link, Phase};
use crate::listing;
use crate::server::Command;
use crate::start::{Life, start};

/// The first pause after a failure; each further one is twice as long, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LAST_PAUSE: Duration = Duration::from_secs(30);
/// The shortest time between two looks at a server's list: one that changes it all the time must not keep us busy.
const BETWEEN_LISTS: Duration = Duration::from_secs(1);
/// What a list may have for the shortest pause after it; after a longer one the pause is longer in proportion.
const BYTES_BETWEEN_LISTS: usize = 1024 * 1024;
/// The shortest time for which a list is believed, whatever its server says.
const SHORTEST_FRESH: Duration = Duration::from_secs(5);
/// How long the last answers of a server that has ended may take to be read, and its last words.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub(crate) struct Driver {
    link: Arc<Link>,
    commands: mpsc::Receiver<Command>,
    /// Failures since the last call that was answered.
    failures: u32,
    /// Whether its last start failed for want of a login.
    awaits_login: bool,
}

/// Why a life is over.
enum End {
    /// It ended by itself, in this way.
    Itself(String),
    /// Nobody needs it for now.
    Rested,
    /// It was asked to end; whoever asked waits, unless nobody is left.
    Asked(Option<oneshot::Sender<()>>),
}

impl Driver {
    pub(crate) fn new(link: Arc<Link>, commands: mpsc::Receiver<Command>) -> Driver {
        Driver {
            link,
            commands,
            failures: 0,
            awaits_login: false,
        }
    }

    pub(crate) async fn run(mut self) {
        let asked = loop {
            match self.commands.recv().await {
                Some(Command::Start) if self.link.is_held_back() => continue,
                Some(Command::Start) => {}
                Some(Command::Renew) => continue,
                Some(Command::Stop(done)) => break Some(done),
                None => break None,
            }
            let in_its_place = async {
                self.link.set_phase(Phase::Starting);
                start(&self.link).await
            };
            let started = tokio::select! {
                biased;
                asked = wait_for_stop(&mut self.commands) => break asked,
                started = self.link.starts.run(in_its_place) => started,
            };
            match started {
                Ok(life) => {
                    self.awaits_login = false;
                    if let End::Asked(done) = self.live(life).await {
                        break done;
                    }
                }
                Err(error) if error.awaits_login() => {
                    // Every search finds that out anew.
                    if !std::mem::replace(&mut self.awaits_login, true) {
                        tracing::warn!("{error}");
                    }
                    self.fail(error, Duration::ZERO);
                }
                Err(error) => {
                    tracing::warn!("{error}");
                    self.failures += 1;
                    self.fail(error, pause(self.failures));
                }
            }
        };
        self.link.set_phase(Phase::Closed);
        if let Some(done) = asked {
            let _ = done.send(());
        }
    }

    fn fail(&self, error: UpstreamError, pause: Duration) {
        self.link.list_failed(error.clone());
        self.link.set_phase(Phase::Failed {
            error,
            retry_at: Instant::now() + pause,
        });
    }

    /// Serves one life from its greeting to its end.
    async fn live(&mut self, life: Life) -> End {
        let Life {
            mut carrier,
            service,
            connection,
            greeting,
        } = life;
        self.link.set_era(greeting.era);
        self.link.set_phase(Phase::Running(Arc::clone(&connection)));
        let is_passed_on = self.link.client.get().is_some();
        let _subscription = subscribe(&connection, &greeting, is_passed_on).await;
        connection.tell_log_level(&self.link.client).await;
        let stop_service = service.cancellation_token();
        let mut closed = std::pin::pin!(service.waiting());
        let mut refreshing = Some(refresh(&self.link, &connection, &greeting, Instant::now()));
        let mut next_list = Instant::now();
        let (mut fresh_for, mut stale_at) = (None, None);
        self.link.activity.touch();
        let end = loop {
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(Command::Start) => {}
                    Some(Command::Renew) if !self.link.rest() => {}
                    Some(Command::Renew) => break End::Rested,
                    Some(Command::Stop(done)) => break End::Asked(Some(done)),
                    None => break End::Asked(None),
                },
                () = idle(&self.link), if refreshing.is_none() => {
                    if self.link.rest() {
                        break End::Rested;
                    }
                }
                cause = carrier.ended() => {
                    // Answers that it wrote before are still in the pipe.
                    let _ = timeout(LAST_WORDS, &mut closed).await;
                    break End::Itself(cause);
                }
                _ = &mut closed => {
                    let cause = match timeout(LAST_WORDS, carrier.ended()).await {
                        Ok(cause) => cause,
                        Err(_elapsed) => {
                            carrier.stop().await;
                            "closed its stdout".to_owned()
                        }
                    };
                    break End::Itself(cause);
                }
                refreshed = finished(&mut refreshing) => {
                    refreshing = None;
                    next_list = Instant::now() + refreshed.pause;
                    fresh_for = refreshed.fresh_for.or(fresh_for);
                    // One that tells of changes is not asked whether there are any.
                    let time = fresh_for.filter(|_| !greeting.tells_changes);
                    stale_at = time.map(|time| Instant::now() + time.max(SHORTEST_FRESH));
                }
                () = reached(stale_at), if refreshing.is_none() => {
                    refreshing = Some(refresh(&self.link, &connection, &greeting, next_list));
                }
                () = connection.traffic.list_changed.notified(), if refreshing.is_none() => {
                    refreshing = Some(refresh(&self.link, &connection, &greeting, next_list));
                }
            }
        };
        drop(refreshing);
        let end = match end {
            End::Asked(_) | End::Rested => {
                // The library closes the server's stdin first.
                stop_service.cancel();
                let _ = timeout(LAST_WORDS, &mut closed).await;
                let cause = carrier.stop().await;
                let _ = timeout(LAST_WORDS, connection.stderr.ended()).await;
                let why = match end {
                    End::Rested => "nobody needed it",
                    _ if self.link.is_retired() => "its definition was changed or removed",
                    _ => "codeyard is ending",
                };
                tracing::debug!(server = %self.link.config.name, %cause, "ended: {why}");
                self.link.keep_warnings(connection.traffic.warnings());
                connection.end.send_replace(Some(why.to_owned()));
                end
            }
            End::Itself(cause) => {
                let _ = timeout(LAST_WORDS, connection.stderr.ended()).await;
                self.bury(&connection, cause.clone());
                End::Itself(cause)
            }
        };
        carrier.release().await;
        end
    }

    /// Tells everyone how the server ended.
    fn bury(&mut self, connection: &Connection, cause: String) {
        let cause = connection.traffic.secrets.hide(&cause);
        let error = UpstreamError::Gone {
            server: connection.server.clone(),
            request: "the time between calls".to_owned(),
            cause: cause.clone(),
            stderr: connection.stderr.tail(),
        };
        tracing::warn!(server = %connection.server, "it {}", cause.strip_prefix("it ").unwrap_or(&cause));
        self.link.keep_warnings(connection.traffic.warnings());
        // A server that had done its work is started again at once; so is one that fails for the first time.
        self.failures = if connection.has_served.load(Ordering::Relaxed) {
            0
        } else {
            self.failures + 1
        };
        self.fail(error, pause(self.failures.saturating_sub(1)));
        connection.end.send_replace(Some(cause));
    }
}

fn pause(failures: u32) -> Duration {
    match failures.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => FIRST_PAUSE.saturating_mul(1 << doublings.min(10)).min(LAST_PAUSE),
    }
}

/// Ends when the server is to end for good.
async fn wait_for_stop(commands: &mut mpsc::Receiver<Command>) -> Option<oneshot::Sender<()>> {
    loop {
        match commands.recv().await {
            Some(Command::Start | Command::Renew) => {}
            Some(Command::Stop(done)) => return Some(done),
            None => return None,
        }
    }
}

/// Asks a modern server to tell when its tools change, and its other lists where somebody is told; a legacy one does so
/// unasked.
async fn subscribe(
    connection: &Connection,
    greeting: &Greeting,
    is_passed_on: bool,
) -> Option<impl Sized + use<>> {
    if greeting.era == Era::Legacy || !(greeting.tells_changes || is_passed_on) {
        return None;
    }
    let mut filter = SubscriptionFilter::builder().tools_list_changed();
    if is_passed_on {
        filter = filter.prompts_list_changed().resources_list_changed();
    }
    let filter = filter.build();
    let request = SubscriptionsListenRequest::new(SubscriptionsListenRequestParams::new(filter));
    let request = ClientRequest::SubscriptionsListenRequest(request);
    // It is answered when the subscription ends; a refusal costs nothing but the news.
    connection
        .peer
        .send_request_with_option(request, PeerRequestOptions::no_options())
        .await
        .ok()
}

type Refresh = Pin<Box<dyn Future<Output = Refreshed> + Send>>;

/// When a list is asked for again.
struct Refreshed {
    /// Not before this.
    pause: Duration,
    /// After this at the latest, if the server says so.
    fresh_for: Option<Duration>,
}

/// Asks the server for its list, not before that time, and makes it known.
fn refresh(link: &Arc<Link>, connection: &Arc<Connection>, greeting: &Greeting, at: Instant) -> Refresh {
    let (link, connection, greeting) = (Arc::clone(link), Arc::clone(connection), greeting.clone());
    Box::pin(async move {
        sleep_until(at).await;
        match listing::fetch(&connection, link.timeout()).await {
            Ok(listing) => {
                for warning in listing.warnings {
                    connection.traffic.warn(warning);
                }
                link.learn(&greeting, listing.tools).await;
                let times = u32::try_from(listing.bytes / BYTES_BETWEEN_LISTS).unwrap_or(u32::MAX);
                Refreshed {
                    pause: BETWEEN_LISTS.saturating_mul(times.max(1)),
                    fresh_for: listing.fresh_for,
                }
            }
            Err(error) => {
                tracing::warn!("{error}");
                link.list_failed(error);
                Refreshed {
                    pause: BETWEEN_LISTS,
                    fresh_for: None,
                }
            }
        }
    })
}

/// Waits until nobody has called the server for as long as it may run so.
async fn idle(link: &Link) {
    match link.idle_stop() {
        Some(time) => link.activity.idle(time).await,
        None => std::future::pending().await,
    }
}

/// Waits for a moment that may never come.
async fn reached(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn finished(refreshing: &mut Option<Refresh>) -> Refreshed {
    match refreshing {
        Some(refresh) => refresh.await,
        None => std::future::pending().await,
    }
}
