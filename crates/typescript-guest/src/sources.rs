//! Texts that an engine has read, to lead its lines back to what was written.

use std::collections::HashMap;

use typescript::LineMap;

/// The texts by the names under which the engine knows them.
#[derive(Debug, Default)]
pub struct Sources {
    texts: HashMap<String, ProgramText>,
}

/// One text.
#[derive(Debug)]
pub struct ProgramText {
    pub text: String,
    /// From what the engine runs; `None` if that is the text itself.
    pub lines: Option<LineMap>,
}

impl Sources {
    /// The names of older programs are forgotten beyond this number.
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
    /// Line and column in the text, counted from 1; `None` for code that the text does not show.
    pub fn place(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        match &self.lines {
            Some(lines) => lines.source(line, column),
            None => Some((line, column)),
        }
    }
}
