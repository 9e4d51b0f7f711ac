//! `var` declarations nested in other statements, which belong to the top level too.

use oxc_ast::ast::{
    BindingPattern, Class, Expression, ForInStatement, ForOfStatement, ForStatement, ForStatementInit,
    ForStatementLeft, Function, Statement, VariableDeclaration, VariableDeclarationKind,
};
use oxc_ast_visit::Visit;
use oxc_semantic::ScopeFlags;

use super::TopLevelReader;

/// Makes the variables of a statement belong to the session.
pub fn variables(reader: &mut TopLevelReader<'_>, statement: &Statement<'_>) {
    VarDeclarations { reader }.visit_statement(statement);
}

struct VarDeclarations<'r, 'c> {
    reader: &'r mut TopLevelReader<'c>,
}

impl VarDeclarations<'_, '_> {
    /// `for (var a of b)` becomes `for (a of b)`.
    fn left(&mut self, left: &ForStatementLeft<'_>) {
        let ForStatementLeft::VariableDeclaration(declared) = left else {
            return;
        };
        let (true, [declarator]) = (is_var(declared), declared.declarations.as_slice()) else {
            return;
        };
        self.reader.bind(declared);
        self.reader
            .replace(declared.span.start, declarator.span.start, "");
        // The grammar refuses `for (async of b)`.
        if let BindingPattern::BindingIdentifier(name) = &declarator.id
            && name.name == "async"
        {
            self.reader.replace(name.span.start, name.span.end, "(async)");
        }
    }
}

fn is_var(declared: &VariableDeclaration<'_>) -> bool {
    declared.kind == VariableDeclarationKind::Var
}

impl<'a> Visit<'a> for VarDeclarations<'_, '_> {
    fn visit_variable_declaration(&mut self, declared: &VariableDeclaration<'a>) {
        if is_var(declared) {
            self.reader.variables(declared, ";");
        }
    }

    fn visit_for_statement(&mut self, statement: &ForStatement<'a>) {
        if let Some(ForStatementInit::VariableDeclaration(declared)) = &statement.init
            && is_var(declared)
        {
            self.reader.variables(declared, "");
        }
        self.visit_statement(&statement.body);
    }

    fn visit_for_in_statement(&mut self, statement: &ForInStatement<'a>) {
        self.left(&statement.left);
        self.visit_statement(&statement.body);
    }

    fn visit_for_of_statement(&mut self, statement: &ForOfStatement<'a>) {
        self.left(&statement.left);
        self.visit_statement(&statement.body);
    }

    // These have their own variables.
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_class(&mut self, _: &Class<'a>) {}

    fn visit_expression(&mut self, _: &Expression<'a>) {}
}
