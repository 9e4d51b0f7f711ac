//! Stream events of a session: the unread events, and the last event that the client received.
//!
//! To resume a stream, a client names the last event it received, and receives the later events. At a limit, the
//! oldest events are dropped.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit};

/// Limit on the events of a session.
const MOST_EVENTS: usize = 512;

/// Limit on the bytes of a session's events.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Limit on the bytes of all sessions' events.
const MOST_BYTES_OF_ALL: usize = 64 * 1024 * 1024;

/// Limit on the bytes of the events of one principal's sessions.
const MOST_BYTES_OF_SHARE: usize = 16 * 1024 * 1024;

/// Bytes in the logs of all sessions, and of those in one share.
#[derive(Debug, Clone, Default)]
pub(super) struct EventBudget {
    all: Arc<AtomicUsize>,
    share: Option<Arc<AtomicUsize>>,
}

#[derive(Debug)]
pub(super) struct EventLog {
    budget: EventBudget,
    state: Mutex<LogState>,
}

#[derive(Debug)]
struct LogState {
    last_stream: u64,
    last_arrival: u64,
    last_reader: u64,
    streams: BTreeMap<u64, LoggedStream>,
    events: usize,
    bytes: usize,
    /// When the last reader disconnected.
    left: Instant,
}

#[derive(Debug, Default)]
struct LoggedStream {
    /// Events in the order of their numbers.
    events: VecDeque<LoggedEvent>,
    /// Number of the newest event, from 1.
    last: u64,
    /// Number of the newest event that was dropped to free space.
    dropped: u64,
    /// Number of the newest event that the reader has taken.
    taken: u64,
    is_over: bool,
    reader: Option<u64>,
    changed: Arc<Notify>,
}

#[derive(Debug)]
struct LoggedEvent {
    number: u64,
    /// Position in the order of arrival, across all streams.
    arrival: u64,
    message: Message,
}

#[derive(Debug, Clone)]
enum Message {
    Beside(Arc<[u8]>),
    /// The stream's last event, for which its client waits.
    Answer(Arc<[u8]>),
}

/// The stream of an event and the event's number in it; 0 means the beginning of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventId {
    stream: u64,
    number: u64,
}

/// Writes a stream's events. Dropping the writer ends the stream.
#[derive(Debug)]
pub(super) struct EventWriter {
    log: Arc<EventLog>,
    stream: u64,
}

/// A connection's reader of a stream.
#[derive(Debug)]
pub(super) struct EventReader {
    log: Arc<EventLog>,
    stream: u64,
    reader: u64,
    changed: Arc<Notify>,
    from: EventId,
    _place: OwnedSemaphorePermit,
}

/// Why a stream cannot be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum ResumeError {
    /// The session has no event with this id.
    #[error("`Last-Event-ID` is not an event of this session")]
    Unknown,
    /// The session holds at most [`MOST_EVENTS`] events and [`MOST_BYTES`].
    #[error("the events after `Last-Event-ID` are no longer kept; send the request again")]
    Dropped,
}

enum Found {
    Event(EventId, Arc<[u8]>),
    Nothing,
    End,
}

// === impl EventBudget ===

impl EventBudget {
    /// A budget within this one.
    pub(super) fn share(&self) -> EventBudget {
        EventBudget {
            all: Arc::clone(&self.all),
            share: Some(Arc::default()),
        }
    }

    fn add(&self, bytes: usize) {
        for counter in self.counters() {
            counter.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn remove(&self, bytes: usize) {
        for counter in self.counters() {
            counter.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn is_exceeded(&self) -> bool {
        let exceeds = |counter: &AtomicUsize, most| counter.load(Ordering::Relaxed) > most;
        let share = self.share.as_deref();
        exceeds(&self.all, MOST_BYTES_OF_ALL)
            || share.is_some_and(|share| exceeds(share, MOST_BYTES_OF_SHARE))
    }

    fn counters(&self) -> impl Iterator<Item = &AtomicUsize> {
        [&self.all]
            .into_iter()
            .chain(&self.share)
            .map(|counter| &**counter)
    }
}

// === impl EventLog ===

impl EventLog {
    pub(super) fn new(budget: EventBudget) -> Arc<EventLog> {
        Arc::new(EventLog {
            budget,
            state: Mutex::new(LogState {
                last_stream: 0,
                last_arrival: 0,
                last_reader: 0,
                streams: BTreeMap::new(),
                events: 0,
                bytes: 0,
                left: Instant::now(),
            }),
        })
    }

    /// Opens a stream; the reader holds the permit.
    pub(super) fn open(self: &Arc<Self>, place: OwnedSemaphorePermit) -> (EventWriter, EventReader) {
        let mut state = self.state.lock();
        state.last_stream += 1;
        let stream = state.last_stream;
        let writer = EventWriter {
            log: Arc::clone(self),
            stream,
        };
        let reader = state.read(EventId { stream, number: 0 }, place, self);
        (writer, reader)
    }

    /// Reads a stream again after an event. A reader that is already attached to the stream ends.
    pub(super) fn resume(
        self: &Arc<Self>,
        last_event: &str,
        place: OwnedSemaphorePermit,
    ) -> Result<EventReader, ResumeError> {
        let id = EventId::parse(last_event).ok_or(ResumeError::Unknown)?;
        let mut state = self.state.lock();
        state.check(id)?;
        Ok(state.read(id, place, self))
    }

    /// When the last connection stopped reading; without any reader, when the session began.
    pub(super) fn left(&self) -> Instant {
        self.state.lock().left
    }

    fn push(&self, stream: u64, message: Message) {
        let mut state = self.state.lock();
        state.last_arrival += 1;
        let arrival = state.last_arrival;
        let size = message.bytes().len();
        let Some(logged) = state.streams.get_mut(&stream) else {
            return;
        };
        logged.last += 1;
        logged.events.push_back(LoggedEvent {
            number: logged.last,
            arrival,
            message,
        });
        logged.changed.notify_waiters();
        state.events += 1;
        state.bytes += size;
        self.budget.add(size);
        state.make_room(&self.budget);
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        let bytes = self.state.get_mut().bytes;
        self.budget.remove(bytes);
    }
}

// === impl LogState ===

impl LogState {
    /// Whether the stream can be resumed after this event.
    fn check(&self, id: EventId) -> Result<(), ResumeError> {
        let was_begun = (1..=self.last_stream).contains(&id.stream);
        match self.streams.get(&id.stream) {
            None if was_begun => Err(ResumeError::Dropped),
            Some(stream) if id.number < stream.dropped => Err(ResumeError::Dropped),
            Some(stream) if id.number <= stream.last => Ok(()),
            None | Some(_) => Err(ResumeError::Unknown),
        }
    }

    /// Attaches this reader to the stream, after the given event.
    fn read(&mut self, id: EventId, place: OwnedSemaphorePermit, log: &Arc<EventLog>) -> EventReader {
        self.last_reader += 1;
        let stream = self.streams.entry(id.stream).or_default();
        stream.reader = Some(self.last_reader);
        stream.taken = id.number;
        stream.changed.notify_waiters();
        EventReader {
            log: Arc::clone(log),
            stream: id.stream,
            reader: self.last_reader,
            changed: Arc::clone(&stream.changed),
            from: id,
            _place: place,
        }
    }

    fn find(&mut self, stream: u64, reader: u64) -> Found {
        let logged = self.streams.get_mut(&stream);
        let Some(logged) = logged.filter(|logged| logged.reader == Some(reader)) else {
            return Found::End;
        };
        let next = logged.events.iter().find(|event| event.number > logged.taken);
        match next {
            Some(event) => {
                logged.taken = event.number;
                let id = EventId {
                    stream,
                    number: event.number,
                };
                Found::Event(id, Arc::clone(event.message.bytes()))
            }
            None if logged.is_over => Found::End,
            None => Found::Nothing,
        }
    }

    /// Drops the oldest events until the limits are met, except answers that a connection is about to send.
    fn make_room(&mut self, budget: &EventBudget) {
        while self.events > MOST_EVENTS || self.bytes > MOST_BYTES || budget.is_exceeded() {
            let fronts = self.streams.iter().filter_map(|(number, stream)| {
                let front = stream.events.front()?;
                (!stream.is_due(front)).then_some((front.arrival, *number))
            });
            let Some((_, number)) = fronts.min() else {
                break;
            };
            let Some(stream) = self.streams.get_mut(&number) else {
                break;
            };
            let Some(event) = stream.events.pop_front() else {
                break;
            };
            stream.dropped = event.number;
            let size = event.message.bytes().len();
            self.events -= 1;
            self.bytes -= size;
            budget.remove(size);
        }
        self.streams
            .retain(|_, stream| !stream.is_over || stream.reader.is_some() || !stream.events.is_empty());
    }
}

// === impl LoggedStream ===

impl LoggedStream {
    /// Whether a connection is about to send this answer.
    fn is_due(&self, event: &LoggedEvent) -> bool {
        self.reader.is_some() && event.number > self.taken && matches!(event.message, Message::Answer(_))
    }
}

// === impl Message ===

impl Message {
    fn bytes(&self) -> &Arc<[u8]> {
        match self {
            Message::Beside(bytes) | Message::Answer(bytes) => bytes,
        }
    }
}

// === impl EventId ===

impl EventId {
    fn parse(text: &str) -> Option<EventId> {
        let (stream, number) = text.split_once('-')?;
        let id = EventId {
            stream: stream.parse().ok()?,
            number: number.parse().ok()?,
        };
        // Reject `+1` and `01`: we never write these forms.
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.number)
    }
}

// === impl EventWriter ===

impl EventWriter {
    /// Adds a message other than the answer.
    pub(super) fn message(&self, message: &[u8]) {
        self.log.push(self.stream, Message::Beside(message.into()));
    }

    /// Adds the answer to the stream's request.
    pub(super) fn answer(&self, message: &[u8]) {
        self.log.push(self.stream, Message::Answer(message.into()));
    }

    /// Whether a connection reads the stream.
    pub(super) fn is_read(&self) -> bool {
        let state = self.log.state.lock();
        state
            .streams
            .get(&self.stream)
            .is_some_and(|stream| stream.reader.is_some())
    }
}

impl Drop for EventWriter {
    fn drop(&mut self) {
        let mut state = self.log.state.lock();
        if let Some(stream) = state.streams.get_mut(&self.stream) {
            stream.is_over = true;
            stream.changed.notify_waiters();
        }
        state.make_room(&self.log.budget);
    }
}

// === impl EventReader ===

impl EventReader {
    /// The next event; `None` after the last, or once another connection reads the stream.
    pub(super) async fn next(&mut self) -> Option<(EventId, Arc<[u8]>)> {
        loop {
            let mut changed = pin!(self.changed.notified());
            // After `enable`, every change wakes this task.
            changed.as_mut().enable();
            let found = self.log.state.lock().find(self.stream, self.reader);
            match found {
                Found::Event(id, message) => return Some((id, message)),
                Found::Nothing => changed.await,
                Found::End => return None,
            }
        }
    }

    /// The event after which this reader started.
    pub(super) fn from(&self) -> EventId {
        self.from
    }
}

impl Drop for EventReader {
    fn drop(&mut self) {
        let mut state = self.log.state.lock();
        state.left = Instant::now();
        let stream = state.streams.get_mut(&self.stream);
        if let Some(stream) = stream.filter(|stream| stream.reader == Some(self.reader)) {
            stream.reader = None;
        }
        state.make_room(&self.log.budget);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    fn place() -> OwnedSemaphorePermit {
        Arc::new(Semaphore::new(1)).try_acquire_owned().expect("a place")
    }

    fn log() -> Arc<EventLog> {
        EventLog::new(EventBudget::default())
    }

    /// Collects a reader's events up to the end of the stream.
    async fn rest(mut reader: EventReader) -> Vec<(String, String)> {
        let mut events = Vec::new();
        while let Some((id, message)) = reader.next().await {
            events.push((id.to_string(), String::from_utf8_lossy(&message).into_owned()));
        }
        events
    }

    fn pair(id: &str, message: &str) -> (String, String) {
        (id.to_owned(), message.to_owned())
    }

    fn why(log: &Arc<EventLog>, last_event: &str) -> Option<ResumeError> {
        log.resume(last_event, place()).err()
    }

    #[tokio::test]
    async fn a_resumed_stream_continues_after_an_event_without_other_streams() {
        let log = log();
        let (first, reader) = log.open(place());
        let (second, other) = log.open(place());
        first.message(b"a");
        second.message(b"x");
        drop(reader);
        first.message(b"b");
        first.answer(b"c");
        drop(first);
        assert_eq!(
            rest(log.resume("1-1", place()).expect("kept")).await,
            [pair("1-2", "b"), pair("1-3", "c")]
        );
        assert_eq!(rest(log.resume("1-0", place()).expect("kept")).await.len(), 3);
        assert_eq!(rest(log.resume("1-3", place()).expect("kept")).await, []);
        drop(second);
        assert_eq!(rest(other).await, [pair("2-1", "x")]);
    }

    #[tokio::test]
    async fn a_returning_reader_replaces_the_previous_one() {
        let log = log();
        let (writer, before) = log.open(place());
        let after = log.resume("1-0", place()).expect("kept");
        assert_eq!(rest(before).await, []);
        assert!(writer.is_read());
        writer.answer(b"a");
        drop(writer);
        assert_eq!(rest(after).await, [pair("1-1", "a")]);
    }

    #[test]
    fn unknown_event_ids_are_refused() {
        let log = log();
        let (writer, _reader) = log.open(place());
        writer.message(b"a");
        for wrong in [
            "",
            "1",
            "1-2",
            "2-0",
            "0-0",
            "-",
            "+1-0",
            "01-0",
            "1-0-0",
            "1- 0",
            "18446744073709551616-0",
        ] {
            assert_eq!(why(&log, wrong), Some(ResumeError::Unknown), "{wrong}");
        }
        assert_eq!(why(&log, "1-1"), None);
    }

    #[tokio::test]
    async fn the_oldest_events_make_room_and_a_resume_that_needs_them_fails() {
        let log = log();
        let (writer, reader) = log.open(place());
        drop(reader);
        for _ in 0..=MOST_EVENTS {
            writer.message(b"a");
        }
        assert_eq!(why(&log, "1-0"), Some(ResumeError::Dropped));
        assert_eq!(why(&log, "1-1"), None);
        writer.message(&vec![b'x'; MOST_BYTES]);
        assert_eq!(why(&log, "1-500"), Some(ResumeError::Dropped));
        writer.answer(b"a");
        drop(writer);
        assert_eq!(
            rest(log.resume("1-514", place()).expect("kept")).await,
            [pair("1-515", "a")]
        );
        let (writer, reader) = log.open(place());
        drop(reader);
        writer.answer(&vec![b'x'; MOST_BYTES + 1]);
        drop(writer);
        assert_eq!(why(&log, "2-0"), Some(ResumeError::Dropped));
    }

    #[tokio::test]
    async fn an_awaited_answer_of_any_length_is_sent() {
        let log = log();
        let (writer, reader) = log.open(place());
        writer.answer(&vec![b'x'; MOST_BYTES + 1]);
        drop(writer);
        let (other, _other_reader) = log.open(place());
        other.message(b"a");
        assert_eq!(rest(reader).await.len(), 1);
        assert_eq!(why(&log, "1-0"), Some(ResumeError::Dropped));
    }

    #[test]
    fn all_sessions_together_hold_a_bounded_number_of_bytes() {
        let budget = EventBudget::default();
        let sessions: Vec<_> = (0..2 * MOST_BYTES_OF_ALL / MOST_BYTES)
            .map(|_| {
                let log = EventLog::new(budget.clone());
                let (writer, reader) = log.open(place());
                drop(reader);
                for _ in 0..4 {
                    writer.message(&vec![b'x'; MOST_BYTES / 4]);
                }
                log
            })
            .collect();
        assert!(budget.all.load(Ordering::Relaxed) <= MOST_BYTES_OF_ALL);
        drop(sessions);
        assert_eq!(budget.all.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_full_share_drops_only_its_own_events() {
        let budget = EventBudget::default();
        let (greedy, modest) = (budget.share(), budget.share());
        let log = EventLog::new(modest.clone());
        let (writer, reader) = log.open(place());
        writer.message(b"a");
        let sessions: Vec<_> = (0..2 * MOST_BYTES_OF_SHARE / MOST_BYTES)
            .map(|_| {
                let log = EventLog::new(greedy.clone());
                let (writer, reader) = log.open(place());
                drop(reader);
                writer.message(&vec![b'x'; MOST_BYTES]);
                log
            })
            .collect();
        assert!(budget.all.load(Ordering::Relaxed) <= MOST_BYTES_OF_SHARE + 1);
        writer.message(b"b");
        drop(writer);
        assert_eq!(rest(reader).await, [pair("1-1", "a"), pair("1-2", "b")]);
        drop((sessions, log));
        assert_eq!(budget.all.load(Ordering::Relaxed), 0);
    }
}
