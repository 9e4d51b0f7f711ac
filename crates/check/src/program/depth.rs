//! How deeply a program may be nested, from its tokens alone: what is deeper is not read, because reading recurses.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// Nesting up to which a program is read. People and models write a tenth of it.
const MAX_DEPTH: usize = 400;

/// Bytes that a token takes as a part of the tree, about, and one that opens a list: that reserves room for four items.
const TOKEN: usize = 128;
const LIST: usize = 320;

/// Bytes that the tree of a program may take, beside 32 for each byte of its text.
const ALLOWANCE: usize = 8 * 1024 * 1024;

/// What the tokens of a program tell of its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// It cannot be deeper than this, which is within the bound.
    Bounded(usize),
    /// It may be deeper than is read, or take more memory than it may.
    Deeper,
    /// Its brackets do not match: it does not parse.
    Broken,
}

/// What stands between one bracket and the one that closes it, or in one statement.
#[derive(Default)]
struct Level {
    /// The bracket that closes it.
    close: Option<TokenKind>,
    /// Tokens since the last comma that ended something.
    tokens: usize,
    /// Lambdas whose parameters still follow: their commas end nothing.
    lambdas: usize,
}

// === impl Depth ===

impl Depth {
    /// How deep the tree of this program can be. Each token since the last comma, of each bracket that is open, counts as
    /// a level.
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
                // Texts that stand side by side are one.
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

/// The token that closes what this one opens.
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
