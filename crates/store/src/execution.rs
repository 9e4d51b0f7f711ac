//! What an execution log says of a run beyond the run's record.

use serde::{Deserialize, Serialize};
use types::{GuestError, Outcome, WrittenFile};

use crate::audit::mask_tokens;
use crate::config::ExecutionDetail;
use crate::rows::cut_to;

/// Most paths of a run.
const MAX_FILES: usize = 100;
/// Longest path, in bytes.
const MAX_PATH: usize = 256;
/// Longest message of an error, in bytes.
const MAX_MESSAGE: usize = 1024;
/// Longest program, in bytes.
const MAX_CODE: usize = 64 * 1024;

/// Facts of one run for an execution log, recorded only while one is configured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// The exit status, if the program ended itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<u8>,
    /// Sum of the sizes of the files that the run made or changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_written: Option<u64>,
    /// Paths of files that the run made or changed, at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The error's message, on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The program's text, on request; its first 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

// === impl Execution ===

impl Execution {
    /// The facts of an outcome, if the settings ask for them.
    pub(crate) fn of(outcome: &Outcome, detail: ExecutionDetail) -> Option<Execution> {
        let error = outcome.error.as_ref();
        let path = |file: &WrittenFile| text(&file.path, MAX_PATH);
        (detail != ExecutionDetail::Omitted).then(|| Execution {
            exit: error.and_then(exit),
            bytes_written: Some(outcome.files.iter().map(|file| file.size).sum()),
            files: outcome.files.iter().take(MAX_FILES).map(path).collect(),
            message: error
                .filter(|error| detail == ExecutionDetail::Texts && !error.message.is_empty())
                .map(|error| text(&error.message, MAX_MESSAGE)),
            code: None,
        })
    }

    /// The program's text, if the settings ask for it.
    pub(crate) fn code(code: &str, detail: ExecutionDetail) -> Option<String> {
        (detail == ExecutionDetail::Texts).then(|| text(code, MAX_CODE))
    }

    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        let files: usize = self.files.iter().map(String::len).sum();
        let texts = [&self.message, &self.code];
        files + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }

    /// The same without what people and programs wrote.
    pub(crate) fn without_texts(self) -> Execution {
        Execution {
            message: None,
            code: None,
            ..self
        }
    }
}

/// A program in Python ends itself with an exception, whose message has the status.
fn exit(error: &GuestError) -> Option<u8> {
    if error.exit.is_some() || error.kind != "SystemExit" {
        return error.exit;
    }
    let status = error.message.strip_prefix("exit status ")?;
    let end = status.find(|character: char| !character.is_ascii_digit());
    status[..end.unwrap_or(status.len())].parse().ok()
}

/// More bytes than an API token has.
const MAX_TOKEN: usize = 256;

fn text(text: &str, most: usize) -> String {
    // A token that is cut would not be recognised.
    cut_to(&mask_tokens(&cut_to(text, most + MAX_TOKEN)), most)
}

#[cfg(test)]
mod tests {
    use types::{SessionFate, Status};

    use super::*;

    fn failed() -> Outcome {
        let error = GuestError {
            kind: "ValueError".to_owned(),
            message: format!("cyd_{} {}", "ab".repeat(32), "x".repeat(2000)),
            exit: Some(3),
            ..GuestError::default()
        };
        let mut outcome = Outcome::bare(Status::Failed, SessionFate::Kept, Some(error));
        outcome.files = (0..200)
            .map(|number| WrittenFile {
                path: format!("/workspace/{number}{}", "y".repeat(400)),
                size: 1,
            })
            .collect();
        outcome
    }

    #[test]
    fn the_status_of_a_program_in_python_is_in_its_message() {
        for (kind, message, expected) in [
            ("SystemExit", "exit status 3", Some(3)),
            ("SystemExit", "exit status 1: no file", Some(1)),
            ("SystemExit", "exit status ", None),
            ("ValueError", "exit status 3", None),
        ] {
            let error = GuestError {
                kind: kind.to_owned(),
                message: message.to_owned(),
                ..GuestError::default()
            };
            assert_eq!(exit(&error), expected, "{kind}: {message}");
        }
    }

    #[test]
    fn facts_are_bounded_and_texts_are_there_on_request() {
        assert_eq!(Execution::of(&failed(), ExecutionDetail::Omitted), None);
        let facts = Execution::of(&failed(), ExecutionDetail::Facts).expect("facts");
        assert_eq!((facts.exit, facts.message.as_deref()), (Some(3), None));
        assert_eq!(facts.files.len(), MAX_FILES);
        assert!(facts.files.iter().all(|path| path.len() <= MAX_PATH));
        let texts = Execution::of(&failed(), ExecutionDetail::Texts).expect("texts");
        let message = texts.message.clone().expect("a message");
        assert!(
            message.len() <= MAX_MESSAGE && !message.contains("abab"),
            "{message}"
        );
        assert_eq!(texts.without_texts(), facts);
        assert_eq!(Execution::code("print(1)", ExecutionDetail::Facts), None);
        let code = Execution::code(&"é".repeat(MAX_CODE), ExecutionDetail::Texts).expect("code");
        assert_eq!(code.len(), MAX_CODE);
    }
}
