//! A session in its own process, for hosts that cannot clone a zygote.
//!
//! The keeper confines the process before it executes this program, by the same code as Python's `alone.py`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::engine::Engine;
use crate::places::Places;
use guest_session::SessionEngine;

/// Facts that the process cannot determine itself, because it has neither mounts nor `/proc`.
#[derive(Debug, Deserialize)]
pub struct AloneSettings {
    /// The real directory of each documented path.
    places: BTreeMap<String, String>,
    /// Limit of the session's memory in bytes.
    memory: u64,
}

/// Builds the engine. The host requests the warm-up later.
pub fn prepare(settings: AloneSettings) -> Result<Box<dyn SessionEngine>, String> {
    jail::own_zygote::survive_large_files();
    let engine = Engine::start(Places::moved(settings.places), Some(settings.memory))?;
    engine.shared.open();
    Ok(Box::new(engine))
}
