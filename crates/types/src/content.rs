//! What a result is made of beside JSON: text and images that a model may look at.

use serde::{Deserialize, Serialize};

/// One piece of a run's result that is no JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// An image, as the guest produced it.
    Image {
        /// `image/png`, `image/jpeg` or `image/svg+xml`.
        mime: String,
        /// The bytes in base64 (standard alphabet, padded).
        data: String,
    },
}
