//! What a command prints, as far as there is room for it.

use crate::evaluated::{Evaluated, MAX_OUTPUT};
use crate::failure::Stop;

const CUT: &str = "shell: output truncated (exceeds 10 MiB limit)";

/// At most [`MAX_OUTPUT`] bytes.
#[derive(Debug, Default)]
pub(crate) struct Printed(Vec<u8>);

// === impl Printed ===

impl Printed {
    /// Appends all parts, or as much as there is room for.
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

    /// What was printed until there was no room for more.
    pub(crate) fn cut(self) -> Evaluated {
        let mut output = self.text();
        output.truncate(output.floor_char_boundary(MAX_OUTPUT));
        Evaluated {
            output,
            error: CUT.to_owned(),
            exit: 0,
            is_cut: true,
        }
    }

    pub(crate) fn ended(self, exit: u8, error: String) -> Evaluated {
        let output = self.text();
        // Replacement characters are longer than the bytes they replace.
        if output.len() > MAX_OUTPUT {
            return self.cut();
        }
        Evaluated {
            output,
            error,
            exit,
            is_cut: false,
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}
