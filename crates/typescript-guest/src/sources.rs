//! Texts that an engine has read, to map its lines back to the source.

use std::collections::HashMap;

use typescript::LineMap;

/// Texts by the engine's names.
#[derive(Debug, Default)]
pub struct Sources {
    texts: HashMap<String, ProgramText>,
}

/// One text.
#[derive(Debug)]
pub struct ProgramText {
    pub text: String,
    /// The map from generated lines; `None` if the engine runs the text itself.
    pub lines: Option<LineMap>,
}

impl Sources {
    /// Limit on named programs; the oldest are dropped.
    const MOST: usize = 500;

    pub fn add(&mut self, name: &str, source: ProgramText) {
        if self.texts.len() >= Self::MOST {
            self.texts.clear();
        }
        self.texts.insert(name.to_owned(), source);
    }

    pub fn get(&self, name: &str) -> Option<&ProgramText> {
        self.texts.get(name)
    }
}

impl ProgramText {
    /// Line and column in the source, from 1; `None` for generated code.
    pub fn place(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        match &self.lines {
            Some(lines) => lines.source(line, column),
            None => Some((line, column)),
        }
    }
}
