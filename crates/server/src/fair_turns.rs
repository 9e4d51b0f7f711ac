//! Fair turns: how many programs run at once, and whose is next.
//!
//! Users with waiting programs take turns, so one user's thousand programs delay only that user. A program asks for its
//! turn once its session is free: programs that wait for their session take no turn.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use types::Principal;

/// Hands out turns. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct FairTurns {
    shared: Arc<SharedTurns>,
}

/// The right to run one program, until the value is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    shared: Arc<SharedTurns>,
    user: Principal,
    /// Set when nobody received the turn: its counts are corrected where it was made.
    is_void: bool,
}

/// How many programs run, and how many wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TurnFigures {
    pub(crate) running: usize,
    pub(crate) waiting: usize,
}

#[derive(Debug)]
struct SharedTurns {
    most: usize,
    most_of_user: usize,
    state: Mutex<TurnState>,
}

#[derive(Debug, Default)]
struct TurnState {
    running: usize,
    running_of: HashMap<Principal, usize>,
    /// Users with waiting programs; the first is next.
    next: VecDeque<Principal>,
    /// Never empty for a user in `next`.
    waiting: HashMap<Principal, VecDeque<oneshot::Sender<Turn>>>,
}

// === impl FairTurns ===

impl FairTurns {
    pub(crate) fn new(most: usize, most_of_user: usize) -> Self {
        Self {
            shared: Arc::new(SharedTurns {
                most,
                most_of_user,
                state: Mutex::default(),
            }),
        }
    }

    /// Counts of this moment.
    pub(crate) fn figures(&self) -> TurnFigures {
        let state = self.shared.lock();
        TurnFigures {
            running: state.running,
            waiting: state.waiting.values().map(VecDeque::len).sum(),
        }
    }

    /// Waits for the user's turn. Dropping the future gives up the place in the queue.
    pub(crate) async fn take(&self, user: &Principal) -> Turn {
        loop {
            // The sender is dropped without a turn only together with the whole state.
            if let Ok(turn) = self.shared.enqueue(user).await {
                return turn;
            }
        }
    }
}

// === impl SharedTurns ===

impl SharedTurns {
    fn lock(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(self: &Arc<Self>, user: &Principal) -> oneshot::Receiver<Turn> {
        let (sender, turn) = oneshot::channel();
        let mut state = self.lock();
        let waiting = state.waiting.entry(user.clone()).or_default();
        waiting.retain(|waits| !waits.is_closed());
        waiting.push_back(sender);
        if !state.next.contains(user) {
            state.next.push_back(user.clone());
        }
        self.hand_out(&mut state);
        turn
    }

    /// Gives turns to users who may have one, one after another.
    fn hand_out(self: &Arc<Self>, state: &mut TurnState) {
        let mut passed_over = 0;
        while state.running < self.most && passed_over < state.next.len() {
            let Some(user) = state.next.pop_front() else { break };
            if state.running_of(&user) >= self.most_of_user {
                state.next.push_back(user);
                passed_over += 1;
                continue;
            }
            passed_over = 0;
            if let Some(waits) = state.next_of(&user) {
                state.count(&user);
                let turn = Turn {
                    shared: self.clone(),
                    user: user.clone(),
                    is_void: false,
                };
                // Dropping the turn here would lock the state again.
                if let Err(mut unwanted) = waits.send(turn) {
                    unwanted.is_void = true;
                    state.discount(&user);
                }
            }
            if state.waiting.contains_key(&user) {
                state.next.push_back(user);
            }
        }
    }

    fn give_back(self: &Arc<Self>, user: &Principal) {
        let mut state = self.lock();
        state.discount(user);
        self.hand_out(&mut state);
    }
}

// === impl TurnState ===

impl TurnState {
    fn running_of(&self, user: &Principal) -> usize {
        self.running_of.get(user).copied().unwrap_or_default()
    }

    /// The user's next program whose client still waits. Forgets a user without one.
    fn next_of(&mut self, user: &Principal) -> Option<oneshot::Sender<Turn>> {
        let waiting = self.waiting.get_mut(user)?;
        waiting.retain(|waits| !waits.is_closed());
        let next = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(user);
        }
        next
    }

    fn count(&mut self, user: &Principal) {
        self.running += 1;
        *self.running_of.entry(user.clone()).or_default() += 1;
    }

    fn discount(&mut self, user: &Principal) {
        self.running -= 1;
        if let Some(running) = self.running_of.get_mut(user) {
            *running -= 1;
            if *running == 0 {
                self.running_of.remove(user);
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.is_void {
            self.shared.give_back(&self.user);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::poll;
    use proptest::prelude::*;

    use super::*;

    fn user(name: &str) -> Principal {
        name.parse().expect("a principal")
    }

    #[tokio::test]
    async fn users_take_turns() {
        let turns = FairTurns::new(1, 1);
        let (ann, bob) = (user("ann"), user("bob"));
        let running = turns.take(&ann).await;
        let mut second = pin!(turns.take(&ann));
        let mut third = pin!(turns.take(&ann));
        let mut other = pin!(turns.take(&bob));
        assert!(poll!(&mut second).is_pending() && poll!(&mut third).is_pending());
        assert!(poll!(&mut other).is_pending());
        drop(running);
        let second = second.await;
        assert!(poll!(&mut third).is_pending() && poll!(&mut other).is_pending());
        drop(second);
        // Bob asked later and waits for one of Ann's only.
        let other = other.await;
        assert!(poll!(&mut third).is_pending());
        drop(other);
        drop(third.await);
    }

    #[tokio::test]
    async fn a_user_s_most_leaves_room_for_others() {
        let turns = FairTurns::new(4, 2);
        let (ann, bob) = (user("ann"), user("bob"));
        let _running = [turns.take(&ann).await, turns.take(&ann).await];
        let mut third = pin!(turns.take(&ann));
        assert!(poll!(&mut third).is_pending());
        let _other = turns.take(&bob).await;
        assert!(poll!(&mut third).is_pending());
    }

    #[tokio::test]
    async fn who_gives_up_waiting_takes_no_turn() {
        let turns = FairTurns::new(1, 1);
        let (ann, bob) = (user("ann"), user("bob"));
        let running = turns.take(&ann).await;
        {
            let mut given_up = pin!(turns.take(&ann));
            assert!(poll!(&mut given_up).is_pending());
        }
        let mut other = pin!(turns.take(&bob));
        assert!(poll!(&mut other).is_pending());
        drop(running);
        drop(other.await);
        assert_eq!(turns.shared.lock().running, 0);
        assert!(turns.shared.lock().waiting.is_empty());
    }

    #[tokio::test]
    async fn thousands_who_give_up_at_once_end_nothing() {
        let turns = FairTurns::new(1, 1);
        let running = turns.take(&user("ann")).await;
        for number in 0..200 {
            let other = user(&format!("user-{number}"));
            let mut waiting: Vec<_> = (0..100).map(|_| Box::pin(turns.take(&other))).collect();
            for waits in &mut waiting {
                assert!(poll!(waits).is_pending());
            }
        }
        drop(running);
        drop(turns.take(&user("bob")).await);
        let state = turns.shared.lock();
        assert_eq!((state.running, state.waiting.len(), state.next.len()), (0, 0, 0));
    }

    proptest! {
        #[test]
        fn never_too_many_and_nobody_is_forgotten(steps in proptest::collection::vec((0u8..3, 0usize..4), 1..80)) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            runtime.block_on(async {
                let turns = FairTurns::new(3, 2);
                let users = ["a", "b", "c", "d"].map(user);
                let mut waiting = VecDeque::new();
                let mut running: Vec<(usize, Turn)> = Vec::new();
                for (step, who) in steps {
                    match step {
                        0 => waiting.push_back((who, Box::pin(turns.take(&users[who])))),
                        1 => drop(running.pop()),
                        _ => drop(waiting.pop_front()),
                    }
                    let mut left = VecDeque::new();
                    for (who, mut waits) in waiting {
                        match poll!(&mut waits) {
                            std::task::Poll::Ready(turn) => running.push((who, turn)),
                            std::task::Poll::Pending => left.push_back((who, waits)),
                        }
                    }
                    waiting = left;
                    assert!(running.len() <= 3);
                    let of = |who: usize| running.iter().filter(|(other, _)| *other == who).count();
                    assert!((0..4).all(|who| of(who) <= 2));
                    // Whoever waits has a reason.
                    assert!(running.len() == 3 || waiting.iter().all(|(who, _)| of(*who) == 2));
                }
            });
        }
    }
}
