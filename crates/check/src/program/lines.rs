//! Finds the line of a place in the text.

use ruff_text_size::TextSize;

/// Offsets of the lines.
pub(super) struct Lines {
    starts: Vec<usize>,
}

// === impl Lines ===

impl Lines {
    pub(super) fn of(source: &str) -> Lines {
        let bytes = source.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Lines { starts }
    }

    /// Counts from 1.
    pub(super) fn line(&self, at: TextSize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= at.to_usize());
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}
