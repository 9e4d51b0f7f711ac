//! Finds decorators, which are not removed and which no engine here supports.

use oxc_ast::ast::{Decorator, Program};
use oxc_ast_visit::Visit;

/// Offset of the first decorator.
pub fn first(program: &Program<'_>, source: &str) -> Option<usize> {
    let mut finder = DecoratorSearch::default();
    if source.contains('@') {
        finder.visit_program(program);
    }
    finder.found
}

#[derive(Default)]
struct DecoratorSearch {
    found: Option<usize>,
}

impl<'a> Visit<'a> for DecoratorSearch {
    fn visit_decorator(&mut self, decorator: &Decorator<'a>) {
        self.found.get_or_insert(decorator.span.start as usize);
    }
}
