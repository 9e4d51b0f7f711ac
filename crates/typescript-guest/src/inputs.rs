//! Clock and randomness of recorded runs: what a program reads is listed, and a repeated run reads it from the list.

use std::collections::VecDeque;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use types::RunInputs;

/// Most times of each clock, and most random bytes, that are listed for a run.
const MOST_TIMES: usize = 4_000;
const MOST_BYTES: usize = 32 * 1024;

/// What the current run reads of the machine.
#[derive(Debug, Default)]
pub struct MachineInputs {
    /// In milliseconds.
    pub wall: ListedClock,
    /// In nanoseconds.
    pub fine: ListedClock,
    pub bytes: ListedBytes,
    is_listed: bool,
}

/// One clock. After the end of its list, it runs on from the last time.
#[derive(Debug, Default)]
pub struct ListedClock {
    listed: Vec<i64>,
    left: VecDeque<i64>,
    shift: i64,
}

/// Random bytes of the kernel. A repeated run gets those of its list first.
#[derive(Debug, Default)]
pub struct ListedBytes {
    listed: Vec<u8>,
    left: VecDeque<u8>,
}

/// The list, as it is sent.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Reads {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wall: Vec<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fine: Vec<i64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    bytes: String,
}

impl MachineInputs {
    /// Begins a run at this time of the wall clock, in milliseconds.
    pub fn begin(&mut self, inputs: Option<&RunInputs>, now: i64) {
        *self = Self::default();
        let Some(inputs) = inputs else {
            return;
        };
        self.is_listed = true;
        if let Some(reads) = &inputs.reads {
            // A list that a program has spoiled in its own guest answers nothing.
            let reads: Reads = serde_json::from_str(reads.get()).unwrap_or_default();
            self.wall.left = reads.wall.into();
            self.wall.shift = i64::try_from(inputs.clock).unwrap_or(now).wrapping_sub(now);
            self.fine.left = reads.fine.into();
            self.bytes.left = STANDARD.decode(reads.bytes).unwrap_or_default().into();
        }
    }

    /// The list of a recorded run that has read anything.
    pub fn listed(&self) -> Option<serde_json::Value> {
        let reads = Reads {
            wall: self.wall.listed.clone(),
            fine: self.fine.listed.clone(),
            bytes: STANDARD.encode(&self.bytes.listed),
        };
        let is_empty = reads.wall.is_empty() && reads.fine.is_empty() && reads.bytes.is_empty();
        (self.is_listed && !is_empty).then(|| serde_json::to_value(reads).unwrap_or_default())
    }
}

impl ListedClock {
    /// The time that the program sees at this time of the machine.
    pub fn read(&mut self, machine: i64) -> i64 {
        if let Some(listed) = self.left.pop_front() {
            self.shift = listed.wrapping_sub(machine);
        }
        let seen = machine.wrapping_add(self.shift);
        if self.listed.len() < MOST_TIMES {
            self.listed.push(seen);
        }
        seen
    }
}

impl ListedBytes {
    /// Fills with bytes of the list, or with the given drawn ones if the list has not enough.
    pub fn fill(&mut self, drawn: &mut [u8]) {
        let count = drawn.len();
        if count <= self.left.len() {
            for (byte, listed) in drawn.iter_mut().zip(self.left.drain(..count)) {
                *byte = listed;
            }
        }
        if self.listed.len() + count <= MOST_BYTES {
            self.listed.extend_from_slice(drawn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_read_again() {
        let mut inputs = RunInputs {
            seed: 1,
            clock: 1_000,
            reads: None,
        };
        let mut first = MachineInputs::default();
        first.begin(Some(&inputs), 1_000);
        assert_eq!([first.wall.read(1_001), first.wall.read(1_005)], [1_001, 1_005]);
        first.bytes.fill(&mut [7, 8, 9]);
        let listed = first.listed().expect("a list").to_string();
        inputs.reads = serde_json::value::RawValue::from_string(listed).ok();
        let mut again = MachineInputs::default();
        again.begin(Some(&inputs), 50_000);
        let read = [50_010, 50_020, 50_021].map(|now| again.wall.read(now));
        assert_eq!(read, [1_001, 1_005, 1_006], "the clock runs on");
        let mut drawn = [0; 3];
        again.bytes.fill(&mut drawn);
        assert_eq!(drawn, [7, 8, 9]);
    }
}
