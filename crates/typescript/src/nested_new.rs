//! Adds parentheses around a `new` that is the constructor of another `new`.
//!
//! The printer omits them, as the grammar allows. `QuickJS` then takes the outer arguments for a call inside the
//! inner `new`: `new new A().B()` for `new (new A().B())()`.

use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, NewExpression};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, SourceType};

use crate::script::edits::{self, Edit};
use crate::strip;

/// As the printer writes them.
const NESTED: &str = "new new ";

/// Returns the printed code with the parentheses.
pub fn in_parentheses(code: String) -> String {
    if !code.contains(NESTED) {
        return code;
    }
    let allocator = Allocator::default();
    let Ok(program) = strip::parse(&allocator, &code, SourceType::mjs()) else {
        return code;
    };
    let mut finder = NestedNews::default();
    finder.visit_program(&program);
    edits::apply(&code, finder.edits)
}

#[derive(Default)]
struct NestedNews {
    edits: Vec<Edit>,
}

impl NestedNews {
    fn insert(&mut self, place: u32, text: &str) {
        let place = place as usize;
        self.edits.push(Edit {
            start: place,
            end: place,
            text: text.to_owned(),
        });
    }
}

impl<'a> Visit<'a> for NestedNews {
    fn visit_new_expression(&mut self, new: &NewExpression<'a>) {
        let callee = new.callee.span();
        let is_nested = begins_with_new(&new.callee);
        if is_nested {
            self.insert(callee.start, "(");
        }
        walk::walk_new_expression(self, new);
        if is_nested {
            self.insert(callee.end, ")");
        }
    }
}

/// Whether an unparenthesized expression begins with `new`.
fn begins_with_new(expression: &Expression<'_>) -> bool {
    let object = match expression {
        Expression::NewExpression(_) => return true,
        Expression::StaticMemberExpression(member) => &member.object,
        Expression::ComputedMemberExpression(member) => &member.object,
        Expression::PrivateFieldExpression(member) => &member.object,
        Expression::TaggedTemplateExpression(tagged) => &tagged.tag,
        _ => return false,
    };
    begins_with_new(object)
}

#[cfg(test)]
mod tests {
    use super::in_parentheses;

    #[test]
    fn only_the_callee_of_new_changes() {
        let check =
            |code: &str, expected: &str| assert_eq!(in_parentheses(code.to_owned()), expected, "{code}");
        check("new new A().B();", "new (new A().B)();");
        check("new new A()();", "new (new A())();");
        check("new new new A()()[0](1).c;", "new (new (new A())()[0])(1).c;");
        check("new (new A().b())();", "new (new A().b())();");
        check(
            "new A(new B()).c(\"new new \");",
            "new A(new B()).c(\"new new \");",
        );
    }
}
