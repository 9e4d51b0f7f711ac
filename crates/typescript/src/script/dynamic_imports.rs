//! Redirects dynamic imports to a function, for engines whose loader does not know tools.

use oxc_allocator::Allocator;
use oxc_ast::ast::ImportExpression;
use oxc_ast_visit::{Visit, walk};
use oxc_span::SourceType;

use super::edits::{self, Edit};
use crate::strip;

const KEYWORD: &str = "import";

/// Replaces every `import(…)` by a call of `function`. Unparsable code stays unchanged: the engine reports its error.
pub fn through_function(code: &str, function: &str) -> String {
    let allocator = Allocator::default();
    let Ok(program) = strip::parse(&allocator, code, SourceType::mjs()) else {
        return code.to_owned();
    };
    let mut finder = Finder {
        function,
        edits: Vec::new(),
    };
    finder.visit_program(&program);
    edits::apply(code, finder.edits)
}

struct Finder<'f> {
    function: &'f str,
    edits: Vec<Edit>,
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        let start = import.span.start as usize;
        self.edits.push(Edit {
            start,
            end: start + KEYWORD.len(),
            text: self.function.to_owned(),
        });
        walk::walk_import_expression(self, import);
    }
}

#[cfg(test)]
mod tests {
    use super::through_function;

    #[test]
    fn only_dynamic_imports_change() {
        let check = |code, expected| assert_eq!(through_function(code, "$bring"), expected, "{code}");
        check("await import('./a.ts')", "await $bring('./a.ts')");
        check("import(await import('x'))", "$bring(await $bring('x'))");
        check(
            "import a from 'b'; f('import(1)')",
            "import a from 'b'; f('import(1)')",
        );
        check("import.meta.url", "import.meta.url");
        check("import(", "import(");
    }
}
