//! What becomes of each top-level statement.

use oxc_ast::ast::{
    Class, Declaration, ExportDefaultDeclarationKind, Expression, Function, ImportDeclaration,
    ImportDeclarationSpecifier, ModuleExportName, Program, Statement, VariableDeclaration,
    VariableDeclarationKind,
};
use oxc_ecmascript::BoundNames;
use oxc_span::{GetSpan, Span};

use super::edits::Edit;

/// The variable that is the result of a program without another.
const RESULT: &str = "result";

/// What the top level of a program does.
#[derive(Debug, Default)]
pub struct TopLevel {
    pub edits: Vec<Edit>,
    /// Every name that it binds.
    pub names: Vec<String>,
    /// Functions, which are known from the beginning.
    pub functions: Vec<String>,
    pub assigns_result: bool,
}

/// Reads the statements of a program without types; `code` is its text.
pub fn read(program: &Program<'_>, code: &str) -> TopLevel {
    let mut read = TopLevel::default();
    // The removal of types may leave an empty export at the end.
    let last = program
        .body
        .iter()
        .rev()
        .find(|statement| !is_empty_export(statement));
    for statement in &program.body {
        read.statement(statement, code);
    }
    if let Some(Statement::ExpressionStatement(last)) = last
        && has_value(&last.expression)
    {
        read.result(last.span, last.expression.span());
    }
    if let (None, Some(last)) = (last, program.directives.last()) {
        read.result(last.span, last.expression.span);
    }
    read.assigns_result = read.names.iter().any(|name| name == RESULT) || assigns_result(code);
    read
}

fn is_empty_export(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::ExportNamedDeclaration(export) if export.specifiers.is_empty())
}

/// Whether the text assigns `result`. A comment or string that only looks so has no effect: the variable has no value.
fn assigns_result(code: &str) -> bool {
    code.match_indices(RESULT).any(|(at, _)| {
        let starts = !code[..at].ends_with(|c: char| c.is_alphanumeric() || "_$.".contains(c));
        let rest = code[at + RESULT.len()..].trim_start();
        starts && rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>")
    })
}

/// Whether an expression is written for its value.
fn has_value(expression: &Expression<'_>) -> bool {
    !matches!(
        expression.without_parentheses(),
        Expression::AssignmentExpression(_) | Expression::UpdateExpression(_)
    )
}

// === impl TopLevel ===

impl TopLevel {
    fn statement(&mut self, statement: &Statement<'_>, code: &str) {
        match statement {
            Statement::VariableDeclaration(declared) => self.variables(declared, code),
            Statement::FunctionDeclaration(function) => self.function(function),
            Statement::ClassDeclaration(class) => self.class(class),
            Statement::ImportDeclaration(import) => self.import(import),
            Statement::ExportDeclaration(export) => {
                self.replace(export.span.start, export.declaration.span().start, "");
                match &export.declaration {
                    Declaration::VariableDeclaration(declared) => self.variables(declared, code),
                    Declaration::FunctionDeclaration(function) => self.function(function),
                    Declaration::ClassDeclaration(class) => self.class(class),
                    _ => {}
                }
            }
            Statement::ExportDefaultDeclaration(export) => {
                let declared = export.declaration.span();
                match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.id.is_some() => {
                        self.replace(export.span.start, declared.start, "");
                        self.function(function);
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(class) if class.id.is_some() => {
                        self.replace(export.span.start, declared.start, "");
                        self.class(class);
                    }
                    _ => self.result(export.span, declared),
                }
            }
            Statement::ExportNamedDeclaration(export) => self.replace(export.span.start, export.span.end, ""),
            Statement::ExportFromDeclaration(export) => self.load(export.span, &export.source.value),
            Statement::ExportAllDeclaration(export) => self.load(export.span, &export.source.value),
            _ => {}
        }
    }

    /// `const a = 1, b;` becomes `void (a = 1, b = void 0);`.
    fn variables(&mut self, declared: &VariableDeclaration<'_>, code: &str) {
        let kept = [
            VariableDeclarationKind::Using,
            VariableDeclarationKind::AwaitUsing,
        ];
        if kept.contains(&declared.kind) {
            return;
        }
        declared.bound_names(&mut |name| self.names.push(name.name.to_string()));
        let (Some(first), Some(last)) = (declared.declarations.first(), declared.declarations.last()) else {
            return;
        };
        self.replace(declared.span.start, first.span.start, "void (");
        for declarator in &declared.declarations {
            if declarator.init.is_none() {
                self.replace(declarator.span.end, declarator.span.end, " = void 0");
            }
        }
        let ends = code[last.span.end as usize..declared.span.end as usize].contains(';');
        let end = if ends { declared.span.end } else { last.span.end };
        self.replace(last.span.end, end, ");");
    }

    fn function(&mut self, function: &Function<'_>) {
        if let Some(name) = &function.id {
            self.names.push(name.name.to_string());
            self.functions.push(name.name.to_string());
        }
    }

    /// `class A {}` becomes `A = class A {};`.
    fn class(&mut self, class: &Class<'_>) {
        let Some(name) = &class.id else { return };
        self.names.push(name.name.to_string());
        self.replace(class.span.start, class.span.start, format!("{} = ", name.name));
        self.replace(class.span.end, class.span.end, ";");
    }

    fn import(&mut self, import: &ImportDeclaration<'_>) {
        let source = literal(&import.source.value);
        let Some(specifiers) = &import.specifiers else {
            return self.load(import.span, &import.source.value);
        };
        let (mut targets, mut wanted, mut whole) = (Vec::new(), Vec::new(), None);
        for specifier in specifiers {
            let local = specifier.local().name.to_string();
            match specifier {
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => whole = Some(local.clone()),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => {
                    targets.push(format!("default: {local}"));
                    wanted.push("\"default\"".to_owned());
                }
                ImportDeclarationSpecifier::ImportSpecifier(one) => {
                    let name = literal(&exported(&one.imported));
                    targets.push(format!("{name}: {local}"));
                    wanted.push(name);
                }
            }
            self.names.push(local);
        }
        let targets = if targets.is_empty() {
            None
        } else {
            Some(format!("{{{}}}", targets.join(", ")))
        };
        let target = match (targets, whole) {
            (Some(targets), Some(whole)) => format!("{targets} = {whole}"),
            (Some(target), None) | (None, Some(target)) => target,
            (None, None) => return self.load(import.span, &import.source.value),
        };
        let wanted = wanted.join(", ");
        let text = format!("void ({target} = $module(await import({source}), {source}, [{wanted}]));");
        self.replace(import.span.start, import.span.end, text);
    }

    /// A module that is run for its effects.
    fn load(&mut self, place: Span, specifier: &str) {
        self.replace(
            place.start,
            place.end,
            format!("await import({});", literal(specifier)),
        );
    }

    /// A statement whose expression is the result.
    fn result(&mut self, statement: Span, expression: Span) {
        self.replace(statement.start, expression.start, "return (");
        self.replace(expression.end, statement.end, ");");
    }

    fn replace(&mut self, start: u32, end: u32, text: impl Into<String>) {
        self.edits.push(Edit {
            start: start as usize,
            end: end as usize,
            text: text.into(),
        });
    }
}

fn exported(name: &ModuleExportName<'_>) -> String {
    match name {
        ModuleExportName::IdentifierName(name) => name.name.to_string(),
        ModuleExportName::IdentifierReference(name) => name.name.to_string(),
        ModuleExportName::StringLiteral(text) => text.value.to_string(),
    }
}

/// A string literal of JavaScript.
fn literal(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\u{2028}' => quoted.push_str("\\u2028"),
            '\u{2029}' => quoted.push_str("\\u2029"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
