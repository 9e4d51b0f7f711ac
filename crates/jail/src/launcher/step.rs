//! An error with the step at which a helper process failed.

use std::io;

/// A failed step, for the host to read.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {cause}")]
pub struct StepError {
    step: String,
    #[source]
    cause: io::Error,
}

pub(crate) trait During<T> {
    fn during(self, step: impl Into<String>) -> Result<T, StepError>;
}

impl<T, E: Into<io::Error>> During<T> for Result<T, E> {
    fn during(self, step: impl Into<String>) -> Result<T, StepError> {
        self.map_err(|cause| StepError {
            step: step.into(),
            cause: cause.into(),
        })
    }
}
