//! Parts of a result beside JSON: texts, images, recordings, resources and links for a model.

use serde::{Deserialize, Serialize};

/// One piece of a run's result that is not a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// An image from the guest or a tool.
    Image {
        /// Such as `image/png`.
        mime: String,
        /// The bytes in base64 (standard alphabet, padded).
        data: String,
    },
    /// A recording from a tool.
    Audio {
        /// Such as `audio/wav`.
        mime: String,
        /// The bytes in base64.
        data: String,
    },
    /// A whole resource from a tool.
    Resource {
        /// Any text.
        uri: String,
        /// Its media type.
        mime: Option<String>,
        /// Text or bytes.
        body: Body,
    },
    /// A link to a resource, from a tool.
    Link {
        /// Any text.
        uri: String,
        /// As the tool names it.
        name: String,
        /// Its media type.
        mime: Option<String>,
        /// In bytes.
        size: Option<u64>,
    },
}

/// The content of an embedded resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes in base64.
    Data(String),
}

impl Content {
    /// The bytes in base64, if this part has some.
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

    /// The media type, if this part has one.
    pub fn mime(&self) -> Option<&str> {
        match self {
            Content::Text { .. } => None,
            Content::Image { mime, .. } | Content::Audio { mime, .. } => Some(mime),
            Content::Resource { mime, .. } | Content::Link { mime, .. } => mime.as_deref(),
        }
    }
}
