//! The meaning of a text as a direction: the mean of its pieces' rows in a static embedding.
//!
//! The table is compiled in and read in place.

use std::sync::LazyLock;

use half::f16;
use safetensors::SafeTensors;

use super::pieces::pieces;

/// Numbers per vector.
pub(super) const SIZE: usize = 128;
const WIDTH: usize = 2;

/// Numbers added in parallel.
const LANES: usize = 32;

/// The rows of the table, as bytes of the file.
static ROWS: LazyLock<&'static [u8]> = LazyLock::new(|| {
    let file = include_bytes!("../../assets/tool-embedding/model.safetensors");
    let table = SafeTensors::deserialize(file).and_then(|tensors| tensors.tensor("embeddings"));
    // A test reads every row. If the table is invalid, no text has a meaning.
    table.map_or(&[], |table| table.data())
});

/// Of length 1, or zero.
pub(super) type Vector = [f32; SIZE];

/// The sum of a text's rows, not yet normalised.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    vector: Vector,
}

impl Default for Sum {
    fn default() -> Sum {
        Sum { vector: [0.0; SIZE] }
    }
}

impl Sum {
    /// Sums over the text's pieces.
    pub(super) fn of(text: &str) -> Sum {
        let mut sum = Sum::default();
        for row in pieces(text).into_iter().filter_map(row) {
            for (sum, number) in sum.vector.iter_mut().zip(row) {
                *sum += number;
            }
        }
        sum
    }

    pub(super) fn plus(&self, other: &Sum) -> Sum {
        let mut sum = self.clone();
        for (sum, number) in sum.vector.iter_mut().zip(other.vector) {
            *sum += number;
        }
        sum
    }

    /// Normalises the sum.
    pub(super) fn direction(mut self) -> Vector {
        let length = dot(&self.vector, &self.vector).sqrt();
        if length > 0.0 {
            for number in &mut self.vector {
                *number /= length;
            }
        }
        self.vector
    }
}

pub(super) fn dot(a: &Vector, b: &Vector) -> f32 {
    // Independent lanes, which the processor can add in parallel.
    let mut lanes = [0.0f32; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    lanes.iter().sum()
}

fn row(number: usize) -> Option<impl Iterator<Item = f32>> {
    let start = number.checked_mul(SIZE * WIDTH)?;
    let bytes = ROWS.get(start..start.checked_add(SIZE * WIDTH)?)?;
    let numbers = bytes.chunks_exact(WIDTH);
    Some(numbers.map(|bytes| f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        dot(&Sum::of(a).direction(), &Sum::of(b).direction())
    }

    #[test]
    fn every_row_is_there() {
        assert_eq!(ROWS.len(), 30_522 * SIZE * WIDTH);
        assert!(row(30_521).is_some() && row(30_522).is_none());
    }

    #[test]
    fn texts_of_one_topic_are_near() {
        assert!((cosine("send an email", "send an email") - 1.0).abs() < 1e-5);
        let near = cosine("send an email", "post a mail message");
        let far = cosine("send an email", "restart a virtual machine");
        assert!(near > far + 0.2, "{near} {far}");
        assert_eq!(cosine("", "send an email"), 0.0);
    }
}
