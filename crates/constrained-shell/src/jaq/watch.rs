//! The context that jaq carries through a filter: the table of terms, and a watch over time and depth.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jaq_core::data::HasLut;
use jaq_core::{DataT, Lut};
use jaq_json::Val;

/// Ends the thread: a filter has used up its part of the stack.
pub(super) struct TooDeep;

/// Ends the thread: its caller has stopped waiting.
struct Stopped;

/// The stop flag and the stack of a thread.
pub(super) struct Watch {
    is_stopped: Arc<AtomicBool>,
    /// An address near the beginning of the stack, which grows downwards.
    bottom: usize,
    /// Bytes of the stack that filters may use.
    depth: usize,
}

/// The kind of data for filters.
pub(super) struct Watched;

/// The context itself. jaq clones it at each step.
pub(super) struct Steps<'a> {
    pub(super) terms: &'a Lut<Watched>,
    pub(super) watch: &'a Watch,
}

// === impl Watch ===

impl Watch {
    /// For the calling thread.
    pub(super) fn new(is_stopped: Arc<AtomicBool>, depth: usize) -> Watch {
        Watch {
            is_stopped,
            bottom: stack_address(),
            depth,
        }
    }

    /// Unwinds the thread at a stop or a deep stack. jaq's filters offer no other way to stop. Unlike a panic, this
    /// prints nothing.
    pub(super) fn step(&self) {
        if self.is_stopped.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
        if self.bottom.saturating_sub(stack_address()) > self.depth {
            resume_unwind(Box::new(TooDeep));
        }
    }
}

/// The address of a local variable.
#[inline(never)]
fn stack_address() -> usize {
    let here = Cell::new(0_u8);
    std::hint::black_box(&here).as_ptr().addr()
}

// === impl Steps ===

impl Clone for Steps<'_> {
    fn clone(&self) -> Self {
        self.watch.step();
        Steps {
            terms: self.terms,
            watch: self.watch,
        }
    }
}

impl<'a> HasLut<'a, Watched> for Steps<'a> {
    fn lut(&self) -> &'a Lut<Watched> {
        self.terms
    }
}

// === impl Watched ===

impl DataT for Watched {
    type V<'a> = Val;
    type Data<'a> = Steps<'a>;
}
