//! Splits the text of a program into commands and their words.

use std::collections::VecDeque;

/// Maximum depth of substitutions that is followed.
const MAX_DEPTH: u32 = 64;

/// Characters that end a word.
const ENDS: &str = " \t\n;&|<>()";

/// One word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// Line of the text, from 1.
    pub line: u32,
    /// The text without its quotes, up to the first expansion.
    pub start: String,
    /// Whether `start` is the whole word.
    pub is_whole: bool,
}

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    pub words: Vec<Word>,
    /// `||` follows.
    pub is_before_or: bool,
    /// `(` follows, so the words are a function's name.
    pub is_before_parenthesis: bool,
}

/// A here-document whose content starts on the next line.
struct HereDocument {
    end: String,
    strips_tabs: bool,
}

/// The reader of one text.
pub struct Scanner<'a> {
    rest: &'a str,
    line: u32,
    depth: u32,
    commands: Vec<SimpleCommand>,
    here_documents: VecDeque<HereDocument>,
}

impl Word {
    /// The whole word, if it is literal.
    pub fn literal(&self) -> Option<&str> {
        self.is_whole.then_some(self.start.as_str())
    }

    fn push(&mut self, text: &str) {
        if self.is_whole {
            self.start.push_str(text);
        }
    }
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            line: 1,
            depth: 0,
            commands: Vec::new(),
            here_documents: VecDeque::new(),
        }
    }

    /// Every command of the text, those of substitutions before the command that holds them.
    pub fn commands(mut self) -> Vec<SimpleCommand> {
        while !self.rest.is_empty() {
            self.list();
            // An unmatched parenthesis, or one of `case`.
            self.skip(1);
        }
        self.commands
    }

    /// Reads commands up to their closing parenthesis, or the end.
    fn list(&mut self) {
        let mut command = SimpleCommand::default();
        while let Some(next) = self.peek() {
            match next {
                ')' => break,
                '(' => {
                    if self.rest.starts_with("((") && command.words.is_empty() {
                        self.arithmetic();
                        continue;
                    }
                    self.skip(1);
                    command.is_before_parenthesis = true;
                    self.add(&mut command);
                    self.nested();
                }
                '\n' => {
                    self.add(&mut command);
                    self.skip(1);
                    self.skip_here_documents();
                }
                ' ' | '\t' => self.skip(1),
                ';' | '&' | '|' => self.operator(&mut command),
                '<' | '>' => self.redirection(),
                '#' => self.comment(),
                '\\' if self.rest.starts_with("\\\n") => self.skip(2),
                _ => {
                    let word = self.word();
                    // A number before a redirection is its descriptor.
                    let is_number = !word.start.is_empty() && word.start.bytes().all(|b| b.is_ascii_digit());
                    if !(is_number && matches!(self.peek(), Some('<' | '>'))) {
                        command.words.push(word);
                    }
                }
            }
        }
        self.add(&mut command);
    }

    fn add(&mut self, command: &mut SimpleCommand) {
        let command = std::mem::take(command);
        if !command.words.is_empty() {
            self.commands.push(command);
        }
    }

    fn operator(&mut self, command: &mut SimpleCommand) {
        command.is_before_or = self.rest.starts_with("||");
        // `&>` redirects both streams.
        if self.rest.starts_with("&>") {
            self.skip(1);
            return self.redirection();
        }
        self.add(command);
        self.skip(1);
    }

    /// Reads `(…)` after its first parenthesis.
    fn nested(&mut self) {
        if self.depth >= MAX_DEPTH {
            self.rest = "";
            return;
        }
        self.depth += 1;
        self.list();
        self.depth -= 1;
        self.skip(1);
    }

    /// Skips a redirection and its target, because the target is not an argument.
    fn redirection(&mut self) {
        let operator: usize = self.rest.len() - self.rest.trim_start_matches(['<', '>', '&', '|']).len();
        let text = &self.rest[..operator];
        let is_here = text == "<<";
        let is_substitution = self.rest[operator..].starts_with('(') && matches!(text, "<" | ">");
        self.skip(operator);
        if is_substitution {
            self.skip(1);
            return self.nested();
        }
        let strips_tabs = is_here && self.rest.starts_with('-');
        if strips_tabs {
            self.skip(1);
        }
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.skip(1);
        }
        if self.peek().is_some_and(|next| !ENDS.contains(next)) {
            let target = self.word();
            if is_here {
                self.here_documents.push_back(HereDocument {
                    end: target.start,
                    strips_tabs,
                });
            }
        }
    }

    fn skip_here_documents(&mut self) {
        while let Some(document) = self.here_documents.pop_front() {
            while !self.rest.is_empty() {
                let length = self.rest.find('\n').map_or(self.rest.len(), |end| end + 1);
                let line = self.rest[..length].trim_end_matches('\n');
                let line = match document.strips_tabs {
                    true => line.trim_start_matches('\t'),
                    false => line,
                };
                let is_end = line == document.end;
                self.skip(length);
                if is_end {
                    break;
                }
            }
        }
    }

    fn comment(&mut self) {
        let length = self.rest.find('\n').unwrap_or(self.rest.len());
        self.skip(length);
    }

    /// Skips `((…))`.
    fn arithmetic(&mut self) {
        let mut open = 0_u32;
        while let Some(next) = self.peek() {
            match next {
                '(' => open += 1,
                ')' => open = open.saturating_sub(1),
                _ => {}
            }
            self.skip(next.len_utf8());
            if open == 0 {
                return;
            }
        }
    }

    fn word(&mut self) -> Word {
        let mut word = Word {
            line: self.line,
            start: String::new(),
            is_whole: true,
        };
        while let Some(next) = self.peek().filter(|next| !ENDS.contains(*next)) {
            match next {
                '\'' => self.single_quoted(&mut word),
                '"' => self.double_quoted(&mut word),
                '\\' => self.escaped(&mut word),
                '$' => self.expansion(&mut word),
                '`' => self.backquoted(&mut word),
                // Patterns that the shell may expand.
                '*' | '?' | '[' | '~' => {
                    word.is_whole = false;
                    self.skip(1);
                }
                // A brace list; at the start of a word, it is JSON without quotes.
                '{' if !word.start.is_empty() => {
                    word.is_whole = false;
                    self.skip(1);
                }
                _ => {
                    let text = &self.rest[..next.len_utf8()];
                    word.push(text);
                    self.skip(next.len_utf8());
                }
            }
        }
        word
    }

    fn single_quoted(&mut self, word: &mut Word) {
        self.skip(1);
        let length = self.rest.find('\'').unwrap_or(self.rest.len());
        let text = &self.rest[..length];
        word.push(text);
        self.skip(length);
        self.skip(1);
    }

    fn double_quoted(&mut self, word: &mut Word) {
        self.skip(1);
        while let Some(next) = self.peek() {
            match next {
                '"' => {
                    self.skip(1);
                    return;
                }
                '\\' => {
                    let escaped = self.rest[1..].chars().next();
                    match escaped {
                        Some(c @ ('$' | '`' | '"' | '\\')) => word.push(c.encode_utf8(&mut [0; 4])),
                        Some('\n') | None => {}
                        Some(c) => {
                            word.push("\\");
                            word.push(c.encode_utf8(&mut [0; 4]));
                        }
                    }
                    self.skip(1 + escaped.map_or(0, char::len_utf8));
                }
                '$' => self.expansion(word),
                '`' => self.backquoted(word),
                _ => {
                    let text = &self.rest[..next.len_utf8()];
                    word.push(text);
                    self.skip(next.len_utf8());
                }
            }
        }
    }

    fn escaped(&mut self, word: &mut Word) {
        let escaped = self.rest[1..].chars().next();
        if let Some(c) = escaped.filter(|c| *c != '\n') {
            word.push(c.encode_utf8(&mut [0; 4]));
        }
        self.skip(1 + escaped.map_or(0, char::len_utf8));
    }

    /// Reads an expansion after `$`, and the commands in it.
    fn expansion(&mut self, word: &mut Word) {
        let after = self.rest[1..].chars().next();
        match after {
            Some('(') if self.rest.starts_with("$((") => {
                word.is_whole = false;
                self.skip(1);
                self.arithmetic();
            }
            Some('(') => {
                word.is_whole = false;
                self.skip(2);
                self.nested();
            }
            Some('{') => {
                word.is_whole = false;
                self.skip(2);
                self.braces();
            }
            Some('\'') => {
                word.is_whole = false;
                self.skip(2);
                self.until('\'');
            }
            Some(next) if next.is_alphanumeric() || "_@*#?-$!".contains(next) => {
                word.is_whole = false;
                self.skip(1 + next.len_utf8());
                let name = self
                    .rest
                    .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
                self.skip(self.rest.len() - name.len());
            }
            _ => {
                word.push("$");
                self.skip(1);
            }
        }
    }

    /// Skips the rest of `${…}`. Quotes in it hide braces.
    fn braces(&mut self) {
        let mut open = 1_u32;
        while let Some(next) = self.peek().filter(|_| open > 0) {
            match next {
                '{' => open += 1,
                '}' => open -= 1,
                '\\' => self.skip(1),
                _ => {}
            }
            let length = self.peek().map_or(0, char::len_utf8);
            self.skip(length);
            if next == '"' {
                self.until('"');
            }
        }
    }

    /// Skips past the closing quote; a backslash escapes.
    fn until(&mut self, quote: char) {
        while let Some(next) = self.peek() {
            self.skip(next.len_utf8());
            if next == quote {
                return;
            }
            if next == '\\' {
                let length = self.peek().map_or(0, char::len_utf8);
                self.skip(length);
            }
        }
    }

    /// Reads `` `…` ``, without its commands.
    fn backquoted(&mut self, word: &mut Word) {
        word.is_whole = false;
        self.skip(1);
        let length = self.rest.find('`').unwrap_or(self.rest.len());
        self.skip(length);
        self.skip(1);
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Skips this many bytes, which end at a character boundary, or the rest.
    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        let lines = skipped.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.rest = rest;
    }
}
