//! Fair turns: how many programs run at once, and whose is next.
//!
//! Users with waiting programs take turns, so a user who asks for a thousand waits for them alone.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use types::Principal;

/// Programs of one user that wait; more are refused.
pub(crate) const MOST_WAITING: usize = 256;

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
}

/// As many programs of the user wait as may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyWait;

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

    /// Waits for the user's turn. Dropping the future gives the place up.
    pub(crate) async fn take(&self, user: &Principal) -> Result<Turn, TooManyWait> {
        loop {
            let turn = self.shared.enqueue(user)?;
            // The sender is dropped only with a turn or with everything.
            if let Ok(turn) = turn.await {
                return Ok(turn);
            }
        }
    }
}

// === impl SharedTurns ===

impl SharedTurns {
    fn lock(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(self: &Arc<Self>, user: &Principal) -> Result<oneshot::Receiver<Turn>, TooManyWait> {
        let (sender, turn) = oneshot::channel();
        let mut state = self.lock();
        let waiting = state.waiting.entry(user.clone()).or_default();
        waiting.retain(|waits| !waits.is_closed());
        if waiting.len() >= MOST_WAITING {
            return Err(TooManyWait);
        }
        waiting.push_back(sender);
        if !state.next.contains(user) {
            state.next.push_back(user.clone());
        }
        let refused = self.hand_out(&mut state);
        drop(state);
        // Dropping a turn locks the state.
        drop(refused);
        Ok(turn)
    }

    /// Gives turns to users who may have one, one after another. Returns the turns that nobody waits for any more.
    fn hand_out(self: &Arc<Self>, state: &mut TurnState) -> Vec<Turn> {
        let mut unwanted = Vec::new();
        let mut passed_over = 0;
        while state.running < self.most && passed_over < state.next.len() {
            let Some(user) = state.next.pop_front() else { break };
            let running = state.running_of.get(&user).copied().unwrap_or_default();
            if running >= self.most_of_user {
                state.next.push_back(user);
                passed_over += 1;
                continue;
            }
            passed_over = 0;
            let waiting = state.waiting.get_mut(&user);
            let Some(waits) = waiting.and_then(VecDeque::pop_front) else {
                state.waiting.remove(&user);
                continue;
            };
            state.running += 1;
            *state.running_of.entry(user.clone()).or_default() += 1;
            let turn = Turn {
                shared: self.clone(),
                user: user.clone(),
            };
            unwanted.extend(waits.send(turn).err());
            match state
                .waiting
                .get(&user)
                .is_some_and(|waiting| !waiting.is_empty())
            {
                true => state.next.push_back(user),
                false => drop(state.waiting.remove(&user)),
            }
        }
        unwanted
    }

    fn give_back(self: &Arc<Self>, user: &Principal) {
        let mut state = self.lock();
        state.running -= 1;
        if let Some(running) = state.running_of.get_mut(user) {
            *running -= 1;
            if *running == 0 {
                state.running_of.remove(user);
            }
        }
        let unwanted = self.hand_out(&mut state);
        drop(state);
        drop(unwanted);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.shared.give_back(&self.user);
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
        let running = turns.take(&ann).await.expect("a turn");
        let mut second = pin!(turns.take(&ann));
        let mut third = pin!(turns.take(&ann));
        let mut other = pin!(turns.take(&bob));
        assert!(poll!(&mut second).is_pending() && poll!(&mut third).is_pending());
        assert!(poll!(&mut other).is_pending());
        drop(running);
        let second = second.await.expect("a turn");
        assert!(poll!(&mut third).is_pending() && poll!(&mut other).is_pending());
        drop(second);
        // Bob asked later and waits for one of Ann's only.
        let other = other.await.expect("a turn");
        assert!(poll!(&mut third).is_pending());
        drop(other);
        third.await.expect("a turn");
    }

    #[tokio::test]
    async fn a_user_s_most_leaves_room_for_others() {
        let turns = FairTurns::new(4, 2);
        let (ann, bob) = (user("ann"), user("bob"));
        let _running = [turns.take(&ann).await, turns.take(&ann).await];
        let mut third = pin!(turns.take(&ann));
        assert!(poll!(&mut third).is_pending());
        let _other = turns.take(&bob).await.expect("a turn");
        assert!(poll!(&mut third).is_pending());
    }

    #[tokio::test]
    async fn who_gives_up_waiting_takes_no_turn() {
        let turns = FairTurns::new(1, 1);
        let (ann, bob) = (user("ann"), user("bob"));
        let running = turns.take(&ann).await.expect("a turn");
        {
            let mut given_up = pin!(turns.take(&ann));
            assert!(poll!(&mut given_up).is_pending());
        }
        let mut other = pin!(turns.take(&bob));
        assert!(poll!(&mut other).is_pending());
        drop(running);
        drop(other.await.expect("a turn"));
        assert_eq!(turns.shared.lock().running, 0);
        assert!(turns.shared.lock().waiting.is_empty());
    }

    #[tokio::test]
    async fn a_bounded_number_waits() {
        let turns = FairTurns::new(1, 1);
        let ann = user("ann");
        let _running = turns.take(&ann).await.expect("a turn");
        let mut waiting: Vec<_> = (0..MOST_WAITING).map(|_| Box::pin(turns.take(&ann))).collect();
        for waits in &mut waiting {
            assert!(poll!(waits).is_pending());
        }
        assert_eq!(turns.take(&ann).await.err(), Some(TooManyWait));
        assert!(turns.shared.lock().running == 1);
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
                            std::task::Poll::Ready(turn) => running.push((who, turn.expect("room to wait"))),
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
