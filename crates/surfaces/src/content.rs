//! Converts a run's images, audio, resources and links to MCP content blocks.

use rmcp::model::{ContentBlock, Resource, ResourceContents};
use serde_json::Value;
use types::{Body, Content, spelled_out};

pub(crate) fn block(part: Content) -> ContentBlock {
    match part {
        Content::Text { text } => ContentBlock::text(text),
        Content::Image { mime, data } => ContentBlock::image(data, mime),
        Content::Audio { mime, data } => ContentBlock::audio(data, mime),
        Content::Resource { uri, mime, body } => {
            let contents = match body {
                Body::Text(text) => ResourceContents::text(text, uri),
                Body::Data(data) => ResourceContents::blob(data, uri),
            };
            ContentBlock::resource(match mime {
                Some(mime) => contents.with_mime_type(mime),
                None => contents,
            })
        }
        Content::Link {
            uri,
            name,
            mime,
            size,
        } => {
            let mut link = Resource::new(uri, spelled_out(&name));
            link.mime_type = mime;
            link.size = size;
            ContentBlock::resource_link(link)
        }
    }
}

/// The content block as JSON, for answers written without the MCP library.
pub fn content_as_json(part: Content) -> Value {
    serde_json::to_value(block(part)).unwrap_or_default()
}
