//! What a result is made of beside JSON: texts, images, recordings, resources and links that a model may look at.

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
    /// An image, as the guest produced it or a tool gave it.
    Image {
        /// `image/png` and the like.
        mime: String,
        /// The bytes in base64 (standard alphabet, padded).
        data: String,
    },
    /// A recording that a tool gave.
    Audio {
        /// `audio/wav` and the like.
        mime: String,
        /// The bytes in base64.
        data: String,
    },
    /// A resource that a tool gave, whole.
    Resource {
        /// Its uri, which may be anything.
        uri: String,
        /// Its media type.
        mime: Option<String>,
        /// What it holds.
        body: Body,
    },
    /// A resource that a tool named.
    Link {
        /// Its uri, which may be anything.
        uri: String,
        /// What the tool calls it.
        name: String,
        /// Its media type.
        mime: Option<String>,
        /// Its size in bytes.
        size: Option<u64>,
    },
}

/// What an embedded resource holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes in base64.
    Data(String),
}

impl Content {
    /// The bytes in base64, of those parts that have some.
    pub fn data(&self) -> Option<&str> {
        match self {
            Content::Image { data, .. }
            | Content::Audio { data, .. }
            | Content::Resource {
                body: Body::Data(data),
                ..
            } => Some(data),
            Content::Text { .. } | Content::Resource { .. } | Content::Link { .. } => None,
        }
    }

    /// The media type, of those parts that have one.
    pub fn mime(&self) -> Option<&str> {
        match self {
            Content::Text { .. } => None,
            Content::Image { mime, .. } | Content::Audio { mime, .. } => Some(mime),
            Content::Resource { mime, .. } | Content::Link { mime, .. } => mime.as_deref(),
        }
    }
}
