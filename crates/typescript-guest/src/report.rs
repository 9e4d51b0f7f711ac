//! The frame that reports how a run ended.

use std::io;

use rquickjs::Object;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::json::{MAX_DEPTH, depth, well_formed};

/// A run's value from the platform's `finish`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Finished {
    /// JSON of the value, if the program has one and it is small enough.
    result: Option<String>,
    /// For a value that stays in the session: name, kind, size in words, and JSON of its beginning.
    name: Option<String>,
    kind: String,
    size: String,
    sample: Option<String>,
    /// Type and base64 data of each image, alternating.
    content: Vec<String>,
}

/// The frame under construction.
pub struct RunReport {
    frame: Map<String, Value>,
}

impl Finished {
    /// Reads the result object of the engine in this process.
    pub fn of(finished: &Object<'_>) -> rquickjs::Result<Self> {
        Ok(Self {
            result: finished.get("result")?,
            name: finished.get("name")?,
            kind: finished.get::<_, Option<String>>("kind")?.unwrap_or_default(),
            size: finished.get::<_, Option<String>>("size")?.unwrap_or_default(),
            sample: finished.get("sample")?,
            content: finished.get("content")?,
        })
    }
}

impl RunReport {
    pub fn new(run: u64) -> Self {
        let mut frame = Map::new();
        frame.insert("t".to_owned(), "done".into());
        frame.insert("id".to_owned(), run.into());
        Self { frame }
    }

    /// Adds the times and random bytes that the run has read.
    pub fn read(&mut self, reads: Option<Value>) {
        if let Some(reads) = reads {
            self.frame.insert("reads".to_owned(), reads);
        }
    }

    /// Adds the run's error, in the form of [`Failure::frame`].
    pub fn fail(&mut self, error: Value) {
        self.frame.remove("result");
        self.frame.insert("error".to_owned(), error);
    }

    /// Adds the value; returns the failure if the value cannot be sent.
    pub fn finish(&mut self, finished: Finished) -> Option<Failure> {
        if let Some(text) = finished.result {
            if depth(&text) > MAX_DEPTH {
                let message = "the result is nested too deeply: 100 levels are the most";
                return Some(Failure::new("TypeError", message));
            }
            let read = serde_json::from_str(&well_formed(text));
            self.frame.insert("result".to_owned(), read.unwrap_or_default());
        }
        if let Some(name) = finished.name {
            let sample: Option<Value> = finished
                .sample
                .and_then(|text| serde_json::from_str(&well_formed(text)).ok());
            let kept = json!({"name": name, "kind": finished.kind, "size": finished.size, "sample": sample});
            self.frame.insert("kept".to_owned(), kept);
        }
        let (images, _) = finished.content.as_chunks::<2>();
        if !images.is_empty() {
            let part = |[mime, data]: &[String; 2]| json!({"type": "image", "mime": mime, "data": data});
            let parts: Vec<Value> = images.iter().map(part).collect();
            self.frame.insert("content".to_owned(), parts.into());
        }
        None
    }

    /// The frame. `copied` names the streams with a complete copy in a file; `files` has the path and size of each
    /// written file.
    ///
    /// # Errors
    /// If a value has no JSON.
    pub fn into_frame(mut self, copied: &[&str], files: &[(String, u64)]) -> io::Result<Vec<u8>> {
        if !copied.is_empty() {
            self.frame.insert("copied".to_owned(), json!(copied));
        }
        if !files.is_empty() {
            self.frame.insert("files".to_owned(), json!(files));
        }
        Ok(serde_json::to_vec(&self.frame)?)
    }
}
