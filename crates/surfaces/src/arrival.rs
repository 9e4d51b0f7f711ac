//! The order in which calls arrived.
//!
//! Handlers run concurrently, but runs enter their session's queue in this order.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// Gives each arriving call a ticket. A transport keeps one order for each client.
#[derive(Debug, Default)]
pub struct ArrivalOrder {
    next: u64,
    waiting: Arc<Waiting>,
}

/// Calls that have not yet started.
#[derive(Debug, Default)]
struct Waiting {
    numbers: Mutex<BTreeSet<u64>>,
    /// The smallest waiting number; `None` if no call waits.
    first: watch::Sender<Option<u64>>,
}

/// A call's position in the order of arrival, released when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Ticket(Arc<Position>);

#[derive(Debug)]
struct Position {
    number: u64,
    waiting: Arc<Waiting>,
}

impl ArrivalOrder {
    /// A ticket for the call that has just arrived.
    pub fn ticket(&mut self) -> Ticket {
        let number = self.next;
        self.next += 1;
        self.waiting.change(|numbers| numbers.insert(number));
        Ticket(Arc::new(Position {
            number,
            waiting: self.waiting.clone(),
        }))
    }
}

impl Ticket {
    /// Waits until every earlier call has started or ended.
    pub(crate) async fn turn(&self) {
        let mut first = self.0.waiting.first.subscribe();
        // The sender lives as long as this ticket.
        let _ = first
            .wait_for(|first| first.is_none_or(|first| first >= self.0.number))
            .await;
    }

    pub(crate) fn release(&self) {
        self.0.release();
    }
}

impl Position {
    fn release(&self) {
        self.waiting.change(|numbers| numbers.remove(&self.number));
    }
}

impl Drop for Position {
    fn drop(&mut self) {
        self.release();
    }
}

impl Waiting {
    fn change(&self, change: impl FnOnce(&mut BTreeSet<u64>) -> bool) {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if change(&mut numbers) {
            self.first.send_replace(numbers.first().copied());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn is_first(ticket: &Ticket) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(ticket.turn()).poll(&mut context).is_ready()
    }

    #[test]
    fn turns_come_in_the_order_of_arrival() {
        let mut order = ArrivalOrder::default();
        let (first, second, third) = (order.ticket(), order.ticket(), order.ticket());
        assert!(is_first(&first) && !is_first(&second) && !is_first(&third));
        first.release();
        assert!(is_first(&second) && !is_first(&third));
        first.release();
        drop(first);
        assert!(!is_first(&third), "a ticket is released once");
        second.release();
        assert!(is_first(&third));
    }

    #[test]
    fn a_dropped_ticket_blocks_no_call_and_lets_none_overtake() {
        let mut order = ArrivalOrder::default();
        let (first, second, third) = (order.ticket(), order.ticket(), order.ticket());
        drop(second);
        assert!(!is_first(&third));
        drop(first);
        assert!(is_first(&third));
    }
}
