//! The recording of one run, and its form in the database.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use types::{Appearance, GuestError, HostCallError, Language, Outcome, Results, RunInputs, UnknownLanguage};

/// Version of the form. A reader refuses others.
const VERSION: u32 = 1;

/// Most bytes of a program, of its output, of its errors, of its result, and of all its calls. The recording names what
/// is missing beyond.
pub const MAX_PART: usize = 1024 * 1024;

pub(crate) const RESULT: &str = "the result";
pub(crate) const STDOUT: &str = "standard output";
pub(crate) const STDERR: &str = "standard error";

/// What a run was given, the answers of its host calls, and what came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRecording {
    version: u32,
    /// What was run.
    #[serde(flatten)]
    pub program: RecordedProgram,
    /// Host calls in the order in which the program made them.
    pub calls: Vec<RecordedHostCall>,
    /// Clock and randomness; absent in recordings of earlier versions, and for lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<RunInputs>,
    /// What the run produced.
    pub outcome: RecordedOutcome,
    /// Names the parts that were too large to be kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// A run as a file: with the earlier runs of its session, on whose variables it may depend.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportedRun {
    /// Oldest first.
    pub earlier: Vec<RunRecording>,
    /// The run itself.
    pub run: RunRecording,
}

/// A program, and what its surface means by a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedProgram {
    /// The text.
    pub code: String,
    /// How the text is run.
    pub kind: ProgramKind,
    /// What the program sees of its surface.
    #[serde(default)]
    pub appearance: Appearance,
    /// Which results leave the session.
    #[serde(default)]
    pub results: Results,
}

/// How a program's text is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum ProgramKind {
    /// In the sandbox.
    Program(Language),
    /// A line of the constrained commands.
    Line,
}

/// One call that the program made to the host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedHostCall {
    /// Such as `tool`.
    pub name: String,
    /// As the program passed them.
    pub args: Value,
    /// The host's answer.
    pub answer: RecordedAnswer,
}

/// The host's answer to a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedAnswer {
    /// As the guest received it.
    Ok(Box<RawValue>),
    /// The failure that the program saw.
    Error(HostCallError),
    /// The run ended first.
    None,
    /// Too large to be kept.
    Dropped,
}

/// What a run produced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedOutcome {
    /// The word of [`types::Status::name`].
    pub status: String,
    /// `None` if the program returned nothing.
    pub result: Option<Value>,
    /// Standard output as the client saw it.
    pub stdout: String,
    /// Standard error as the client saw it.
    pub stderr: String,
    /// Why the run did not complete.
    pub error: Option<GuestError>,
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It is not in the form of a recording.
    #[error("the recording is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// The program does not fit into a recording.
    #[error("the program has {0} bytes, and a recording takes {MAX_PART}")]
    TooLarge(usize),
    /// Another version of Codeyard wrote it.
    #[error("the recording has version {0}, this codeyard reads version {VERSION}")]
    Version(u32),
}

// === impl RunRecording ===

impl RunRecording {
    /// The recording of a finished run. Parts that are too large are left out and named.
    pub fn new(program: RecordedProgram, calls: Vec<RecordedHostCall>, outcome: &Outcome) -> Self {
        let mut recording = Self {
            version: VERSION,
            program,
            calls,
            inputs: None,
            outcome: RecordedOutcome::of(outcome),
            missing: Vec::new(),
        };
        recording.bound();
        recording
    }

    /// The same, with clock and randomness of the run.
    #[must_use]
    pub fn with_inputs(self, inputs: Option<RunInputs>) -> Self {
        Self { inputs, ..self }
    }

    fn bound(&mut self) {
        let is_dropped = |call: &RecordedHostCall| matches!(call.answer, RecordedAnswer::Dropped);
        if self.calls.iter().any(is_dropped) {
            self.missing.push("calls".to_owned());
        }
        let outcome = &mut self.outcome;
        for (text, name) in [(&mut outcome.stdout, STDOUT), (&mut outcome.stderr, STDERR)] {
            if text.len() > MAX_PART {
                text.clear();
                self.missing.push(name.to_owned());
            }
        }
        let is_large = |result: &Value| result.to_string().len() > MAX_PART;
        if outcome.result.as_ref().is_some_and(is_large) {
            outcome.result = None;
            self.missing.push(RESULT.to_owned());
        }
    }

    /// Whether the recording lacks this part.
    pub(crate) fn lacks(&self, part: &str) -> bool {
        self.missing.iter().any(|missing| missing == part)
    }

    /// About the bytes of the stored form.
    pub fn size(&self) -> usize {
        let RecordedOutcome { stdout, stderr, .. } = &self.outcome;
        let answers = self.calls.iter().map(|call| match &call.answer {
            RecordedAnswer::Ok(value) => value.get().len(),
            _ => 0,
        });
        let reads = self.inputs.as_ref().and_then(|inputs| inputs.reads.as_ref());
        let reads = reads.map_or(0, |reads| reads.get().len());
        self.program.code.len() + stdout.len() + stderr.len() + reads + answers.sum::<usize>()
    }

    /// The form in which a recording is stored.
    ///
    /// # Errors
    /// If an answer cannot be written as JSON, or the program is too large.
    pub fn to_bytes(&self) -> Result<Vec<u8>, RecordingError> {
        match self.program.code.len() {
            ..=MAX_PART => Ok(serde_json::to_vec(self)?),
            bytes => Err(RecordingError::TooLarge(bytes)),
        }
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// If the bytes are no recording, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<RunRecording, RecordingError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Versioned { version } = serde_json::from_slice(bytes)?;
        match version {
            VERSION => Ok(serde_json::from_slice(bytes)?),
            other => Err(RecordingError::Version(other)),
        }
    }
}

// === impl ExportedRun ===

impl ExportedRun {
    /// Reads a file that an export wrote.
    ///
    /// # Errors
    /// If the text is no export, or of another version.
    pub fn read(text: &str) -> Result<ExportedRun, RecordingError> {
        let exported: ExportedRun = serde_json::from_str(text)?;
        let mut versions = exported
            .earlier
            .iter()
            .chain([&exported.run])
            .map(|recording| recording.version);
        let other = versions.find(|version| *version != VERSION);
        drop(versions);
        other.map_or(Ok(exported), |version| Err(RecordingError::Version(version)))
    }
}

// === impl ProgramKind ===

/// The word of a line of the constrained commands; programs have their language's.
const LINE: &str = "line";

impl From<ProgramKind> for String {
    fn from(kind: ProgramKind) -> String {
        match kind {
            ProgramKind::Program(language) => language.name().to_owned(),
            ProgramKind::Line => LINE.to_owned(),
        }
    }
}

impl TryFrom<String> for ProgramKind {
    type Error = UnknownLanguage;

    fn try_from(word: String) -> Result<ProgramKind, UnknownLanguage> {
        match word.as_str() {
            LINE => Ok(ProgramKind::Line),
            language => Language::from_name(language).map(ProgramKind::Program),
        }
    }
}

// === impl RecordedAnswer ===

impl RecordedAnswer {
    /// The answer that the host gave.
    pub fn of(answer: &Result<Box<RawValue>, HostCallError>) -> RecordedAnswer {
        match answer {
            Ok(value) => RecordedAnswer::Ok(value.clone()),
            Err(error) => RecordedAnswer::Error(error.clone()),
        }
    }

    /// Bytes that the host's answer takes in a recording.
    pub fn bytes_of(answer: &Result<Box<RawValue>, HostCallError>) -> usize {
        match answer {
            Ok(value) => value.get().len(),
            Err(error) => error.message.len() + error.hint.as_ref().map_or(0, String::len),
        }
    }
}

// === impl RecordedOutcome ===

impl RecordedOutcome {
    /// What is kept of an outcome.
    pub fn of(outcome: &Outcome) -> RecordedOutcome {
        RecordedOutcome {
            status: outcome.status.name().to_owned(),
            result: outcome.result.clone(),
            stdout: outcome.stdout.shown().into_owned(),
            stderr: outcome.stderr.shown().into_owned(),
            error: outcome.error.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use types::{SessionFate, Status};

    use super::*;

    fn answered(text: &str) -> RecordedHostCall {
        RecordedHostCall {
            name: "tool".to_owned(),
            args: Value::Null,
            answer: RecordedAnswer::Ok(RawValue::from_string(text.to_owned()).expect("JSON")),
        }
    }

    fn program(kind: ProgramKind) -> RecordedProgram {
        RecordedProgram {
            code: "1".to_owned(),
            kind,
            appearance: Appearance::Server,
            results: Results::UpTo(5),
        }
    }

    #[test]
    fn a_recording_is_read_as_it_was_written() {
        let outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
        for kind in [ProgramKind::Program(Language::TypeScript), ProgramKind::Line] {
            let written = RunRecording::new(program(kind), vec![answered("1.50")], &outcome);
            let bytes = written.to_bytes().expect("bytes");
            let read = RunRecording::from_bytes(&bytes).expect("a recording");
            assert_eq!(
                (&read.program, &read.outcome),
                (&written.program, &written.outcome)
            );
            assert!(matches!(&read.calls[0].answer, RecordedAnswer::Ok(value) if value.get() == "1.50"));
            let text = String::from_utf8(bytes).expect("text");
            let later = text.replace("\"version\":1", "\"version\":2");
            let refused = RunRecording::from_bytes(later.as_bytes());
            assert!(matches!(refused, Err(RecordingError::Version(2))), "{refused:?}");
        }
    }

    #[test]
    fn what_is_too_large_is_left_out_and_named() {
        let outcome = Outcome {
            stdout: types::Text::whole("x".repeat(MAX_PART + 1)),
            ..Outcome::bare(Status::Completed, SessionFate::Kept, None)
        };
        let dropped = RecordedHostCall {
            answer: RecordedAnswer::Dropped,
            ..answered("1")
        };
        let recording = RunRecording::new(program(ProgramKind::Line), vec![dropped], &outcome);
        assert_eq!(recording.missing, ["calls", "standard output"]);
        assert_eq!(recording.outcome.stdout, "");
    }
}
