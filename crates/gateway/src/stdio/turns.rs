//! The order in which calls arrived: handlers run side by side, but runs of a session begin in that order.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// Gives each call its turn as it arrives.
#[derive(Debug, Default)]
pub(super) struct Turns {
    next: u64,
    waiting: Arc<Waiting>,
}

/// The calls that have not begun yet.
#[derive(Debug, Default)]
struct Waiting {
    numbers: Mutex<BTreeSet<u64>>,
    /// The first of them; `None` if there is none.
    first: watch::Sender<Option<u64>>,
}

/// The place of one call in the order of arrival. Whoever goes away leaves it.
#[derive(Debug, Clone)]
pub(crate) struct Turn(Arc<Place>);

#[derive(Debug)]
struct Place {
    number: u64,
    waiting: Arc<Waiting>,
}

impl Turns {
    /// The turn of the call that has just arrived.
    pub(super) fn next(&mut self) -> Turn {
        let number = self.next;
        self.next += 1;
        self.waiting.change(|numbers| numbers.insert(number));
        Turn(Arc::new(Place {
            number,
            waiting: self.waiting.clone(),
        }))
    }
}

impl Turn {
    /// Waits until every earlier call has begun or gone away.
    pub(crate) async fn come(&self) {
        let mut first = self.0.waiting.first.subscribe();
        // The sender lives as long as this place.
        let _ = first
            .wait_for(|first| first.is_none_or(|first| first >= self.0.number))
            .await;
    }

    /// Lets the next call begin.
    pub(crate) fn take(&self) {
        self.0.leave();
    }
}

impl Place {
    fn leave(&self) {
        self.waiting.change(|numbers| numbers.remove(&self.number));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
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

    fn has_come(turn: &Turn) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(turn.come()).poll(&mut context).is_ready()
    }

    #[test]
    fn turns_come_in_the_order_of_arrival() {
        let mut turns = Turns::default();
        let (first, second, third) = (turns.next(), turns.next(), turns.next());
        assert!(has_come(&first) && !has_come(&second) && !has_come(&third));
        first.take();
        assert!(has_come(&second) && !has_come(&third));
        first.take();
        drop(first);
        assert!(!has_come(&third), "a turn is left once");
        second.take();
        assert!(has_come(&third));
    }

    #[test]
    fn who_goes_away_holds_up_nobody_and_lets_nobody_overtake() {
        let mut turns = Turns::default();
        let (first, second, third) = (turns.next(), turns.next(), turns.next());
        drop(second);
        assert!(!has_come(&third));
        drop(first);
        assert!(has_come(&third));
    }
}
