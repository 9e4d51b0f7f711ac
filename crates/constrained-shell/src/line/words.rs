//! Splits a line into words and pipes, with a POSIX shell's rules for quotes and escapes.

use std::iter::Peekable;
use std::str::CharIndices;

use super::{Word, WordForm};
use crate::failure::Failure;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    Pipe,
}

pub(super) fn tokens(line: &str) -> Result<Vec<Token>, Failure> {
    let mut scanner = Scanner {
        line,
        rest: line.char_indices().peekable(),
        word: None,
        tokens: Vec::new(),
    };
    scanner.scan()?;
    Ok(scanner.tokens)
}

struct Scanner<'a> {
    line: &'a str,
    rest: Peekable<CharIndices<'a>>,
    /// The current word; an empty pair of quotes begins one too.
    word: Option<Word>,
    tokens: Vec<Token>,
}

// === impl Scanner ===

impl Scanner<'_> {
    fn scan(&mut self) -> Result<(), Failure> {
        while let Some((at, c)) = self.rest.next() {
            match c {
                ' ' | '\t' => self.end_word(),
                '\n' | '\r' => return Err(Failure::SeveralLines),
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '\\' => {
                    let (_, escaped) = self.rest.next().ok_or(Failure::NoEscapedCharacter)?;
                    self.begin().text.push(escaped);
                }
                '|' => {
                    self.refuse(at, &["||", "|&"])?;
                    self.end_word();
                    self.tokens.push(Token::Pipe);
                }
                _ => self.unquoted(at, c)?,
            }
        }
        self.end_word();
        Ok(())
    }

    fn unquoted(&mut self, at: usize, c: char) -> Result<(), Failure> {
        self.refuse(
            at,
            &["&&", "&>", "&", ";", ">>", ">", "<<<", "<<", "<", "(", ")", "`"],
        )?;
        if c == '$' {
            self.refuse_expansion(at)?;
        }
        let is_first = self.word.is_none();
        if is_first {
            self.refuse(at, &["#"])?;
        }
        let word = self.begin();
        word.text.push(c);
        if matches!(c, '*' | '?' | '[' | '{') || (c == '~' && is_first) {
            word.form = WordForm::Expandable;
        }
        Ok(())
    }

    fn single_quoted(&mut self) -> Result<(), Failure> {
        loop {
            match self.rest.next() {
                Some((_, '\'')) => return Ok(()).inspect(|()| _ = self.begin()),
                Some((_, c)) => self.begin().text.push(c),
                None => return Err(Failure::NoClosingQuotation),
            }
        }
    }

    /// A name after `$` stays text, so that a filter with variables works in double quotes.
    fn double_quoted(&mut self) -> Result<(), Failure> {
        self.begin();
        while let Some((at, c)) = self.rest.next() {
            self.refuse(at, &["$(", "${", "`"])?;
            match c {
                '"' => return Ok(()),
                '\\' => {
                    let escaped = self.rest.next_if(|(_, c)| matches!(c, '"' | '\\' | '$' | '`'));
                    self.begin().text.push(escaped.map_or('\\', |(_, c)| c));
                }
                _ => self.begin().text.push(c),
            }
        }
        Err(Failure::NoClosingQuotation)
    }

    /// Refuses the first of these operators that starts at `at`.
    fn refuse(&self, at: usize, operators: &[&str]) -> Result<(), Failure> {
        let here = &self.line[at..];
        match operators.iter().find(|operator| here.starts_with(**operator)) {
            Some(operator) => Err(Failure::Operator((*operator).to_owned())),
            None => Ok(()),
        }
    }

    /// Refuses `$` where a shell would replace it; `a$` is text.
    fn refuse_expansion(&self, at: usize) -> Result<(), Failure> {
        let after = &self.line[at + 1..];
        let name: String = after
            .chars()
            .take_while(|c| *c == '_' || c.is_ascii_alphanumeric())
            .collect();
        if !name.is_empty() {
            return Err(Failure::Operator(format!("${name}")));
        }
        match after.chars().next() {
            Some(c) if "({'\"@*#?!$-".contains(c) => Err(Failure::Operator(format!("${c}"))),
            _ => Ok(()),
        }
    }

    fn begin(&mut self) -> &mut Word {
        self.word.get_or_insert_with(|| Word {
            text: String::new(),
            form: WordForm::Plain,
        })
    }

    fn end_word(&mut self) {
        self.tokens.extend(self.word.take().map(Token::Word));
    }
}
