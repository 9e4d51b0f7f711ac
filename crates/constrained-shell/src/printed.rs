//! A command's output, up to a limit.

use crate::evaluated::{Evaluated, MAX_OUTPUT};
use crate::failure::Stop;

const CUT: &str = "shell: output truncated (exceeds 10 MiB limit)";

/// At most [`MAX_OUTPUT`] bytes.
#[derive(Debug, Default)]
pub(crate) struct Printed(Vec<u8>);

// === impl Printed ===

impl Printed {
    /// Appends the parts, as far as there is room.
    pub(crate) fn push(&mut self, parts: &[&[u8]]) -> Result<(), Stop> {
        for part in parts {
            let room = MAX_OUTPUT - self.0.len();
            self.0.extend_from_slice(&part[..part.len().min(room)]);
            if part.len() > room {
                return Err(Stop::Full);
            }
        }
        Ok(())
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The output up to the limit.
    pub(crate) fn cut(self) -> Evaluated {
        cut(self.into_text())
    }

    pub(crate) fn ended(self, exit: u8, error: String) -> Evaluated {
        let output = self.into_text();
        // Replacement characters are longer than the bytes they replace.
        if output.len() > MAX_OUTPUT {
            return cut(output);
        }
        Evaluated {
            output,
            error,
            exit,
            is_cut: false,
        }
    }

    fn into_text(self) -> String {
        let text = String::from_utf8(self.0);
        text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

fn cut(mut output: String) -> Evaluated {
    output.truncate(output.floor_char_boundary(MAX_OUTPUT));
    Evaluated {
        output,
        error: CUT.to_owned(),
        exit: 0,
        is_cut: true,
    }
}
