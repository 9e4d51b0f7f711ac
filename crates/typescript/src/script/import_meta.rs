//! Replaces `import.meta`, which engines offer only in modules.

use oxc_ast::ast::{ImportMeta, Program};
use oxc_ast_visit::Visit;

use super::edits::Edit;

/// As the printer writes it.
const WRITTEN: &str = "import.meta";

/// Edits that replace every `import.meta` by `name`; `code` is the program's text.
pub fn through_variable(program: &Program<'_>, code: &str, name: &str) -> Vec<Edit> {
    let mut finder = MetaUses {
        name,
        edits: Vec::new(),
    };
    if code.contains(WRITTEN) {
        finder.visit_program(program);
    }
    finder.edits
}

struct MetaUses<'n> {
    name: &'n str,
    edits: Vec<Edit>,
}

impl<'a> Visit<'a> for MetaUses<'_> {
    fn visit_import_meta(&mut self, property: &ImportMeta) {
        self.edits.push(Edit {
            start: property.span.start as usize,
            end: property.span.end as usize,
            text: self.name.to_owned(),
        });
    }
}
