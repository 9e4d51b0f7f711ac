//! Parts common to the guests in Rust: their channel to the host, a session's loop, and copies of long output.

mod call_queue;
mod channel;
mod judged;
mod output;
mod session;
mod written;

pub use call_queue::CallQueue;
pub use channel::{Channel, Frame, Limits, Open, Reply, RunFrame, SessionLimits, Surface, Woken};
pub use judged::{is_refused, refused};
pub use output::{Copies, Output};
pub use session::{SessionEngine, serve};
pub use written::Written;
