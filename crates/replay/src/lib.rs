//! What a run was given and what came of it, so that the run can be repeated: live, or against its recording.

mod answers;
mod difference;
mod recording;

pub use answers::{HostAnswer, RecordedAnswers, Unanswered};
pub use difference::{Difference, differences};
pub use recording::{
    ExportedRun, MAX_PART, ProgramKind, RecordedAnswer, RecordedHostCall, RecordedOutcome, RecordedProgram,
    RecordingError, RunRecording,
};
