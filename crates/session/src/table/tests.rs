//! Decisions about sessions, one by one and against a model.

use proptest::prelude::*;

use super::*;

const SOON: Duration = Duration::from_secs(1);

fn config() -> SessionsConfig {
    SessionsConfig {
        max_sessions: 2,
        max_queue: 3,
        idle_time: Duration::from_secs(60),
        ..SessionsConfig::default()
    }
}

fn key(principal: &str, name: &str) -> Key {
    Key {
        principal: principal.parse().unwrap(),
        language: Language::Python,
        name: SessionName::new(name),
    }
}

fn enqueue<J>(table: &mut Table<J>, key: &Key, job: J, now: Instant) -> Result<Accepted, Refusal> {
    table.admit(key)?;
    Ok(table.enqueue(key, job, now, None))
}

/// A table with one clock; jobs are numbers.
struct World {
    table: Table<u32>,
    now: Instant,
}

impl World {
    fn new() -> Self {
        Self {
            table: Table::new(config()),
            now: Instant::now(),
        }
    }

    /// Enqueues into a session that must be new.
    fn open(&mut self, key: &Key, job: u32) -> DriverId {
        let accepted = enqueue(&mut self.table, key, job, self.now).expect("accepted");
        accepted.start.expect("a new session")
    }

    fn join(&mut self, key: &Key, job: u32) -> Accepted {
        let accepted = enqueue(&mut self.table, key, job, self.now).expect("accepted");
        assert_eq!(accepted.start, None);
        accepted
    }

    fn take(&mut self, key: &Key, driver: DriverId, job: u32) {
        match self.table.next(key, driver, self.now) {
            Next::Run(taken) => assert_eq!(taken, job),
            other => panic!("{other:?} instead of {job}"),
        }
        assert_eq!(self.table.state(key), Some(SessionState::Running));
    }

    fn run(&mut self, key: &Key, driver: DriverId, job: u32, ended: TurnEnd) -> Option<LossReason> {
        self.take(key, driver, job);
        let notice = self.table.take_notice(key, driver);
        self.table.finished(key, driver, ended, self.now);
        notice
    }
}

#[test]
fn runs_keep_their_order() {
    let (mut world, a) = (World::new(), key("p", "a"));
    let driver = world.open(&a, 1);
    world.join(&a, 2);
    world.join(&a, 3);
    for job in 1..=3 {
        assert_eq!(world.run(&a, driver, job, TurnEnd::Kept), None);
        assert_eq!(world.table.state(&a), Some(SessionState::Idle));
    }
    assert!(matches!(world.table.next(&a, driver, world.now), Next::Wait(_)));
}

#[test]
fn a_full_queue_refuses() {
    let (mut world, a) = (World::new(), key("p", "a"));
    let driver = world.open(&a, 1);
    world.join(&a, 2);
    world.join(&a, 3);
    let refusal = enqueue(&mut world.table, &a, 4, world.now).expect_err("full");
    assert_eq!(refusal, Refusal::QueueFull { waiting: 3 });
    world.take(&a, driver, 1);
    world.join(&a, 4);
}

#[test]
fn a_waiting_run_can_be_withdrawn_and_a_running_one_not() {
    let (mut world, a) = (World::new(), key("p", "a"));
    let driver = world.open(&a, 1);
    let two = world.join(&a, 2).ticket;
    let three = world.join(&a, 3).ticket;
    world.take(&a, driver, 1);
    assert_eq!(world.table.withdraw(&a, two), Some(2));
    assert_eq!(world.table.withdraw(&a, two), None);
    world.table.finished(&a, driver, TurnEnd::Kept, world.now);
    world.take(&a, driver, 3);
    assert_eq!(world.table.withdraw(&a, three), None);
}

#[test]
fn a_loss_is_reported_once() {
    let (mut world, a) = (World::new(), key("p", "a"));
    let driver = world.open(&a, 1);
    assert_eq!(
        world.run(&a, driver, 1, TurnEnd::Lost(LossReason::TimedOut)),
        None
    );
    assert_eq!(world.table.state(&a), Some(SessionState::Lost));
    world.join(&a, 2);
    assert_eq!(
        world.run(&a, driver, 2, TurnEnd::Kept),
        Some(LossReason::TimedOut)
    );
    world.join(&a, 3);
    assert_eq!(world.run(&a, driver, 3, TurnEnd::Kept), None);
    world.table.died(&a, driver, LossReason::Died);
    assert_eq!(world.table.state(&a), Some(SessionState::Lost));
    world.join(&a, 4);
    assert_eq!(world.run(&a, driver, 4, TurnEnd::Kept), Some(LossReason::Died));
}

#[test]
fn a_failed_launch_keeps_the_notice_of_a_loss() {
    let (mut world, a) = (World::new(), key("p", "a"));
    let driver = world.open(&a, 1);
    world.take(&a, driver, 1);
    world.table.finished(&a, driver, TurnEnd::NoGuest, world.now);
    assert_eq!(world.table.state(&a), Some(SessionState::Opening));
    world.join(&a, 2);
    world.run(&a, driver, 2, TurnEnd::Lost(LossReason::Cancelled));
    world.join(&a, 3);
    world.take(&a, driver, 3);
    world.table.finished(&a, driver, TurnEnd::NoGuest, world.now);
    assert_eq!(world.table.state(&a), Some(SessionState::Lost));
    world.join(&a, 4);
    assert_eq!(
        world.run(&a, driver, 4, TurnEnd::Kept),
        Some(LossReason::Cancelled)
    );
}

#[test]
fn an_idle_session_is_closed_and_its_next_life_reports_the_loss() {
    let (mut world, a) = (World::new(), key("p", "a"));
    let driver = world.open(&a, 1);
    world.run(&a, driver, 1, TurnEnd::Kept);
    world.now += config().idle_time - SOON;
    assert!(matches!(world.table.next(&a, driver, world.now), Next::Wait(_)));
    world.now += SOON;
    assert!(matches!(world.table.next(&a, driver, world.now), Next::Stop));
    assert_eq!(world.table.state(&a), None);

    let next = world.open(&a, 2);
    assert_ne!(next, driver);
    assert!(
        matches!(world.table.next(&a, driver, world.now), Next::Stop),
        "the old driver has no effect"
    );
    let notice = world.run(&a, next, 2, TurnEnd::Kept);
    assert_eq!(notice, Some(LossReason::Idle(config().idle_time)));
}

#[test]
fn the_least_recently_used_session_makes_room() {
    let mut world = World::new();
    let (a, b, c) = (key("p", "a"), key("p", "b"), key("p", "c"));
    let driver_a = world.open(&a, 1);
    world.run(&a, driver_a, 1, TurnEnd::Kept);
    world.now += SOON;
    let driver_b = world.open(&b, 1);
    world.run(&b, driver_b, 1, TurnEnd::Kept);
    world.now += SOON;
    world.open(&c, 1);
    assert_eq!(
        (world.table.state(&a), world.table.state(&b)),
        (None, Some(SessionState::Idle))
    );

    // `b` is busy and `c` has a waiting run.
    world.join(&b, 2);
    let refusal = enqueue(&mut world.table, &a, 2, world.now).expect_err("no room");
    assert_eq!(refusal, Refusal::TooManySessions { open: 2 });
    world.run(&b, driver_b, 2, TurnEnd::Kept);
    let driver_a = world.open(&a, 2);
    assert_eq!(world.run(&a, driver_a, 2, TurnEnd::Kept), Some(LossReason::Room));

    // Another principal has its own sessions and its own limit.
    let other = world.open(&key("q", "a"), 9);
    assert_eq!(world.run(&key("q", "a"), other, 9, TurnEnd::Kept), None);
}

#[test]
fn a_closed_table_returns_waiting_runs_and_accepts_none() {
    let (mut world, a) = (World::new(), key("p", "a"));
    let driver = world.open(&a, 1);
    let contact = world.join(&a, 2).contact;
    world.take(&a, driver, 1);
    assert_eq!(world.table.close(), [2]);
    assert!(contact.stop.is_cancelled());
    assert_eq!(
        enqueue(&mut world.table, &a, 3, world.now).expect_err("closing"),
        Refusal::Closing
    );
}

#[test]
fn memory_of_ended_sessions_is_bounded() {
    let mut world = World::new();
    for i in 0..2 * MAX_REMEMBERED {
        let session = key("p", &format!("s{i}"));
        let driver = world.open(&session, 1);
        world.run(&session, driver, 1, TurnEnd::Kept);
        world.table.end(&session, driver, LossReason::Room);
    }
    assert_eq!(
        world.table.ended.values().map(VecDeque::len).sum::<usize>(),
        MAX_REMEMBERED
    );
}

#[derive(Debug, Clone)]
enum Step {
    Enqueue(u8),
    Withdraw(usize),
    Next(u8),
    Finish(u8, bool),
    Died(u8),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let session = 0..4u8;
    prop_oneof![
        4 => session.clone().prop_map(Step::Enqueue),
        1 => (0..20usize).prop_map(Step::Withdraw),
        4 => session.clone().prop_map(Step::Next),
        4 => (session.clone(), any::<bool>()).prop_map(|(session, kept)| Step::Finish(session, kept)),
        1 => session.prop_map(Step::Died),
        1 => (0..90u64).prop_map(Step::Pass),
    ]
}

/// A model of one session, to compare with the table.
#[derive(Default)]
struct Model {
    driver: Option<DriverId>,
    waiting: Vec<u32>,
    running: bool,
    variables: bool,
    owes_notice: bool,
}

proptest! {
    #[test]
    fn every_accepted_run_is_given_out_once_in_order_and_every_loss_is_told(steps in proptest::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        let mut models: [Model; 4] = Default::default();
        let mut tickets: Vec<(usize, u32, Ticket)> = Vec::new();
        let keys: Vec<Key> = (0..4).map(|i| key("p", &format!("s{i}"))).collect();
        for (job, step) in (0u32..).zip(steps) {
            match step {
                Step::Enqueue(s) => {
                    let s = usize::from(s);
                    let accepted = enqueue(&mut world.table, &keys[s], job, world.now);
                    // A session that made room has lost its variables.
                    for (other, model) in models.iter_mut().enumerate() {
                        if model.driver.is_some() && world.table.state(&keys[other]).is_none() {
                            prop_assert!(!model.running && model.waiting.is_empty(), "a busy session was closed");
                            model.owes_notice |= model.variables;
                            model.variables = false;
                            model.driver = None;
                        }
                    }
                    let open = models.iter().filter(|model| model.driver.is_some()).count();
                    match accepted {
                        Ok(accepted) => {
                            let model = &mut models[s];
                            prop_assert_eq!(accepted.start.is_some(), model.driver.is_none());
                            model.driver = accepted.start.or(model.driver);
                            model.waiting.push(job);
                            prop_assert!(model.waiting.len() <= config().max_queue);
                            tickets.push((s, job, accepted.ticket));
                        }
                        Err(Refusal::QueueFull { waiting }) => prop_assert_eq!(waiting, models[s].waiting.len()),
                        Err(Refusal::TooManySessions { .. }) => {
                            prop_assert!(models[s].driver.is_none() && open == config().max_sessions);
                            prop_assert!(models.iter().all(|m| m.driver.is_none() || m.running || !m.waiting.is_empty()));
                        }
                        Err(Refusal::Closing | Refusal::TooManySessionsOfAll { .. }) => prop_assert!(false, "nobody closed, and there is no quota"),
                    }
                }
                Step::Withdraw(at) => {
                    if let Some((s, job, ticket)) = tickets.get(at).copied() {
                        let waits = models[s].waiting.iter().position(|known| *known == job);
                        let withdrawn = world.table.withdraw(&keys[s], ticket);
                        prop_assert_eq!(withdrawn, waits.map(|_| job));
                        if let Some(at) = waits {
                            models[s].waiting.remove(at);
                        }
                    }
                }
                Step::Next(s) => {
                    let s = usize::from(s);
                    let model = &mut models[s];
                    let Some(driver) = model.driver.filter(|_| !model.running) else { continue };
                    match world.table.next(&keys[s], driver, world.now) {
                        Next::Run(job) => {
                            prop_assert_eq!(job, model.waiting.remove(0));
                            model.running = true;
                        }
                        Next::Wait(until) => prop_assert!(model.waiting.is_empty() && until > world.now),
                        Next::Stop => {
                            prop_assert!(model.waiting.is_empty());
                            model.owes_notice |= model.variables;
                            model.variables = false;
                            model.driver = None;
                        }
                    }
                }
                Step::Finish(s, kept) => {
                    let s = usize::from(s);
                    let model = &mut models[s];
                    let Some(driver) = model.driver.filter(|_| model.running) else { continue };
                    let notice = world.table.take_notice(&keys[s], driver);
                    prop_assert_eq!(notice.is_some(), model.owes_notice);
                    let ended = if kept { TurnEnd::Kept } else { TurnEnd::Lost(LossReason::Cancelled) };
                    world.table.finished(&keys[s], driver, ended, world.now);
                    model.running = false;
                    model.variables = kept;
                    model.owes_notice = !kept;
                }
                Step::Died(s) => {
                    let s = usize::from(s);
                    let model = &mut models[s];
                    let Some(driver) = model.driver.filter(|_| !model.running && model.variables) else { continue };
                    world.table.died(&keys[s], driver, LossReason::Died);
                    model.variables = false;
                    model.owes_notice = true;
                }
                Step::Pass(seconds) => world.now += Duration::from_secs(seconds),
            }
        }
    }
}
