//! Clock and randomness of a run that is recorded or repeated.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What a program takes from its machine, beside the answers of its calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunInputs {
    /// Seed of generators that make no secrets. A guest uses that of its first run.
    pub seed: u64,
    /// Wall clock at the start, in milliseconds since 1970.
    pub clock: u64,
    /// The guest's own list of the times and random bytes that the program read. A guest that receives a list answers
    /// from it, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Box<RawValue>>,
}
