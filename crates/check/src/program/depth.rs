//! Bounds the nesting of a program by its tokens alone: reading recurses, so deeper programs are not read.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// Deepest nesting that is read. People and models write a tenth of it.
const MAX_DEPTH: usize = 400;

/// Approximate bytes of a token in the tree; a token that opens a list takes more, because it reserves four
/// items.
const TOKEN: usize = 128;
const LIST: usize = 320;

/// Bytes that a program's tree may take, beside 32 per byte of its text.
const ALLOWANCE: usize = 8 * 1024 * 1024;

/// A bound on a program's tree, from its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The deepest that the tree can be; within the bound.
    Bounded(usize),
    /// The tree may be too deep, or take too much memory.
    Deeper,
    /// The brackets do not match, so the program does not parse.
    Broken,
}

/// The tokens between two matching brackets, or in one statement.
#[derive(Default)]
struct Level {
    close: Option<TokenKind>,
    /// Tokens since the last separating comma.
    tokens: usize,
    /// Lambdas whose parameters are not complete: their commas do not separate.
    lambdas: usize,
}

// === impl Depth ===

impl Depth {
    /// The deepest that the program's tree can be. In each open bracket, every token since the last comma
    /// counts as a level.
    pub fn of(source: &str) -> Depth {
        let mut lexer = lexer::lex(source, Mode::Module);
        let mut levels = vec![Level::default()];
        let (mut total, mut indentation, mut deepest) = (0, 0_usize, 0);
        let mut room = ALLOWANCE + 32 * source.len();
        loop {
            let kind = lexer.next_token();
            match room.checked_sub(closing(kind).map_or(TOKEN, |_| LIST)) {
                Some(left) => room = left,
                None => return Depth::Deeper,
            }
            let is_inner = levels.len() > 1;
            let Some(level) = levels.last_mut() else {
                return Depth::Broken;
            };
            match kind {
                TokenKind::EndOfFile if is_inner => return Depth::Broken,
                TokenKind::EndOfFile => return Depth::Bounded(deepest),
                TokenKind::Newline | TokenKind::Semi if is_inner => return Depth::Broken,
                TokenKind::Newline | TokenKind::Semi => {
                    *level = Level::default();
                    total = 0;
                }
                TokenKind::Comma if is_inner && level.lambdas == 0 => {
                    total -= std::mem::take(&mut level.tokens)
                }
                TokenKind::Indent => indentation += 1,
                TokenKind::Dedent => indentation = indentation.saturating_sub(1),
                // Adjacent string literals are one.
                TokenKind::Comment | TokenKind::NonLogicalNewline | TokenKind::String => {}
                _ if level.close == Some(kind) => {
                    total -= level.tokens;
                    levels.pop();
                    total += levels.last_mut().map_or(0, Level::step);
                }
                _ if is_closing(kind) => return Depth::Broken,
                _ => {
                    match kind {
                        TokenKind::Lambda => level.lambdas += 1,
                        TokenKind::Colon => level.lambdas = level.lambdas.saturating_sub(1),
                        _ => {}
                    }
                    total += match closing(kind) {
                        None => level.step(),
                        close => {
                            levels.push(Level {
                                close,
                                tokens: 1,
                                lambdas: 0,
                            });
                            1
                        }
                    };
                }
            }
            deepest = deepest.max(total + indentation);
            if deepest > MAX_DEPTH {
                return Depth::Deeper;
            }
        }
    }
}

// === impl Level ===

impl Level {
    fn step(&mut self) -> usize {
        self.tokens += 1;
        1
    }
}

/// The closing token of an opening one.
fn closing(kind: TokenKind) -> Option<TokenKind> {
    Some(match kind {
        TokenKind::Lpar => TokenKind::Rpar,
        TokenKind::Lsqb => TokenKind::Rsqb,
        TokenKind::Lbrace => TokenKind::Rbrace,
        TokenKind::FStringStart => TokenKind::FStringEnd,
        TokenKind::TStringStart => TokenKind::TStringEnd,
        _ => return None,
    })
}

fn is_closing(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::FStringEnd | TokenKind::TStringEnd
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_too_many_small_parts_is_not_read() {
        let deep = format!("{}0{},", "[".repeat(60), "]".repeat(60));
        for item in ["0,", "1:0,", "a.b,", deep.as_str()] {
            let source = format!("x = [{}]", item.repeat(250 * 1024 / item.len()));
            assert_eq!(Depth::of(&source), Depth::Deeper, "{item}");
        }
        let usual = "answer = await tools.crm.find_customers(name=\"Ann\", limit=20)\n";
        assert!(matches!(
            Depth::of(&usual.repeat(250 * 1024 / usual.len())),
            Depth::Bounded(_)
        ));
    }
}
