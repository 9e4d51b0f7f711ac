//! How deeply a program may be nested, from its tokens alone: what is deeper is not read, because reading recurses.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// Nesting up to which a program is read. People and models write a tenth of it.
const MAX_DEPTH: usize = 400;

/// Whether the tree of this program cannot be deeper than the bound. Each token since the last comma, of each bracket
/// that is open, counts as a level.
pub(super) fn is_bounded(source: &str) -> bool {
    let mut lexer = lexer::lex(source, Mode::Module);
    let mut counts = vec![0_usize];
    let (mut total, mut indentation) = (0, 0_usize);
    loop {
        let kind = lexer.next_token();
        match kind {
            TokenKind::EndOfFile => return true,
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                total += 1;
                counts.push(1);
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd => {
                if counts.len() > 1 {
                    total -= counts.pop().unwrap_or(0);
                }
                step(&mut counts, &mut total);
            }
            TokenKind::Newline | TokenKind::Semi => {
                counts = vec![0];
                total = 0;
            }
            TokenKind::Comma => {
                if let Some(count) = counts.last_mut() {
                    total -= std::mem::take(count);
                }
            }
            TokenKind::Indent => indentation += 1,
            TokenKind::Dedent => indentation = indentation.saturating_sub(1),
            // Texts that stand side by side are one.
            TokenKind::Comment | TokenKind::NonLogicalNewline | TokenKind::String => {}
            _ => step(&mut counts, &mut total),
        }
        if total + indentation > MAX_DEPTH {
            return false;
        }
    }
}

fn step(counts: &mut [usize], total: &mut usize) {
    if let Some(count) = counts.last_mut() {
        *count += 1;
        *total += 1;
    }
}
