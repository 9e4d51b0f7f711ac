//! State shared by native functions and the host's loop: calls, timers, output and written files of the current run.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use guest_session::{CallQueue, Output};
use types::RunInputs;

use crate::inputs::MachineInputs;
use crate::output;
use crate::places::{Places, RESULTS};
use crate::timers::Timers;

/// The state of the session's current run.
pub struct Shared {
    pub calls: RefCell<CallQueue>,
    pub timers: RefCell<Timers>,
    pub output: RefCell<Output>,
    /// Files that the run wrote, by path.
    pub written: RefCell<BTreeSet<String>>,
    /// When the session began.
    pub began: Cell<Instant>,
    /// Whether an interrupt stops the engine.
    pub interruptible: Cell<bool>,
    /// The status passed to `process.exit`.
    pub exit: Cell<Option<u8>>,
    /// Whether the platform has work to do when no job is left.
    pub after_jobs: Cell<bool>,
    /// Names that programs have bound at their top level.
    pub bound: RefCell<typescript::Bound>,
    /// The state of `Math.random`.
    pub seed: Cell<u64>,
    /// Whether a recorded run has set the seed.
    pub is_seeded: Cell<bool>,
    /// Clock and random bytes of the current run.
    pub inputs: RefCell<MachineInputs>,
    pub places: Places,
    /// Limit of the session's memory in bytes, if the process cannot read its own limits and usage.
    pub memory: Option<u64>,
}

impl Shared {
    pub fn new(places: Places, memory: Option<u64>) -> Self {
        Self {
            calls: RefCell::default(),
            timers: RefCell::default(),
            output: RefCell::new(output::of(places.actual(RESULTS).into_owned())),
            written: RefCell::default(),
            began: Cell::new(Instant::now()),
            interruptible: Cell::new(false),
            exit: Cell::new(None),
            after_jobs: Cell::new(false),
            bound: RefCell::default(),
            seed: Cell::new(1),
            is_seeded: Cell::new(false),
            inputs: RefCell::default(),
            places,
            memory,
        }
    }

    /// Begins a session: its start time, and its random seed.
    pub fn open(&self) {
        self.began.set(Instant::now());
        let mut drawn = [0; 8];
        // Without random bytes from the system, use the time.
        if getrandom::fill(&mut drawn).is_err() {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            drawn = now
                .map_or(0, |now| now.subsec_nanos())
                .to_le_bytes()
                .repeat(2)
                .try_into()
                .unwrap_or(drawn);
        }
        self.seed.set(u64::from_le_bytes(drawn) | 1);
    }

    /// Begins a run that is recorded or repeated, or another; the first such run of a session sets the seed.
    pub fn begin_inputs(&self, inputs: Option<&RunInputs>) {
        self.inputs.borrow_mut().begin(inputs, wall_clock());
        if let Some(inputs) = inputs
            && !self.is_seeded.replace(true)
        {
            self.seed.set(inputs.seed | 1);
        }
    }

    /// A number in [0, 1), by xorshift64*.
    pub fn random(&self) -> f64 {
        let mut state = self.seed.get();
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.seed.set(state);
        // Keep the upper bits, as many as a float represents exactly.
        let drawn = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let (drawn, range) = (drawn as f64, (1u64 << 53) as f64);
        drawn / range
    }

    /// Whether the engine must stop.
    pub fn must_stop(&self) -> bool {
        self.interruptible.get() && (jail::own_zygote::is_interrupted() || self.exit.get().is_some())
    }

    /// Clears the state of an earlier run.
    pub fn begin(&self, concurrent_calls: u32, run: u64, output: u64) {
        *self.calls.borrow_mut() = CallQueue {
            most: concurrent_calls,
            ..CallQueue::default()
        };
        self.timers.borrow_mut().clear_all();
        self.output.borrow_mut().begin(run, output);
        self.written.borrow_mut().clear();
        self.exit.set(None);
    }
}

/// The machine's clock, in milliseconds since 1970.
pub fn wall_clock() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(0)
}

impl Shared {
    /// Records a file that the run made or changed. Ignores scratch files.
    pub fn wrote(&self, path: &str) {
        const MOST: usize = 1_000;
        let Ok(path) = std::fs::canonicalize(path) else {
            return;
        };
        let mut written = self.written.borrow_mut();
        if written.len() < MOST {
            written.insert(path.display().to_string());
        }
    }
}
