//! Regular expressions whose search can be stopped at any byte.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::{Anchored, Input};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Look};

use crate::failure::Stop;
use crate::surroundings::Surroundings;

/// Maximum bytes of the compiled expression, and of the automaton that the search builds from it.
const MAX_COMPILED: usize = 2 << 20;
const MAX_AUTOMATON: usize = 8 << 20;

/// Maximum nesting of groups.
const MAX_NESTING: u32 = 100;

/// Bytes searched between two checks of the time. A byte may take as long as the expression has states: a step takes
/// at most some hundred microseconds.
const STEP: usize = 256;

/// An expression as an automaton, whose search takes a bounded time for each byte. Without backtracking, it has
/// neither look-around nor references.
pub(super) struct Expression {
    automaton: DFA,
    cache: Cache,
}

// === impl Expression ===

impl Expression {
    /// The error is a reason of one line.
    pub(super) fn new(pattern: &str) -> Result<Expression, String> {
        let mut parser = ParserBuilder::new().utf8(false).nest_limit(MAX_NESTING).build();
        let parsed = parser
            .parse(pattern)
            .map_err(|error| reason(&error.to_string()))?;
        let config = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_COMPILED));
        let compiled = thompson::Compiler::new()
            .configure(config)
            .build_from_hir(&ascii_boundaries(parsed))
            .map_err(|_| "the expression is too large".to_owned())?;
        let automaton = DFA::builder()
            .configure(DFA::config().cache_capacity(MAX_AUTOMATON))
            .build_from_nfa(compiled)
            .map_err(|_| "the expression is too large".to_owned())?;
        let cache = automaton.create_cache();
        Ok(Expression { automaton, cache })
    }

    /// Whether the text, which is one line, has a match.
    pub(super) fn is_match(&mut self, around: &Surroundings<'_>, text: &[u8]) -> Result<bool, Stop> {
        let input = Input::new(text).anchored(Anchored::No);
        let Ok(mut state) = self.automaton.start_state_forward(&mut self.cache, &input) else {
            return Ok(false);
        };
        for step in text.chunks(STEP) {
            around.check_time()?;
            for byte in step {
                let Ok(next) = self.automaton.next_state(&mut self.cache, state, *byte) else {
                    return Ok(false);
                };
                if next.is_match() || next.is_dead() {
                    return Ok(next.is_match());
                }
                state = next;
            }
        }
        let end = self.automaton.next_eoi_state(&mut self.cache, state);
        Ok(end.is_ok_and(|state| state.is_match()))
    }
}

/// The automaton has no Unicode word boundaries, so `\b` and `\B` mean ASCII word boundaries.
fn ascii_boundaries(expression: Hir) -> Hir {
    let all = |parts: Vec<Hir>| parts.into_iter().map(ascii_boundaries).collect();
    match expression.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(ascii(look)),
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(ascii_boundaries(*repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Capture(mut capture) => {
            capture.sub = Box::new(ascii_boundaries(*capture.sub));
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
    }
}

fn ascii(look: Look) -> Look {
    match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        other => other,
    }
}

/// The last line of a multi-line message, which states the reason.
fn reason(message: &str) -> String {
    let last = message.lines().next_back().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}
