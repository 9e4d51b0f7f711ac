//! Transforms each top-level statement.

mod nested;

use oxc_ast::ast::{
    Class, Declaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind, Expression, Function,
    IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier, ModuleExportName, Program, Statement,
    VariableDeclaration, VariableDeclarationKind, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_ecmascript::BoundNames;
use oxc_semantic::ScopeFlags;
use oxc_span::{GetSpan, Span};

use super::edits::Edit;
use super::{ProgramValue, free_name};

/// The result variable of a program without another result.
const RESULT: &str = "result";

/// The transformed top level of a program.
#[derive(Debug)]
pub struct TopLevel {
    pub edits: Vec<Edit>,
    /// Every bound name.
    pub names: Vec<String>,
    pub assigns_result: bool,
    /// Name of the parameter that checks imports.
    pub module: String,
}

/// Whether a statement takes effect before the program's first statement.
fn is_hoisted(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::FunctionDeclaration(_) => true,
        Statement::ExportDeclaration(export) => {
            matches!(export.declaration, Declaration::FunctionDeclaration(_))
        }
        Statement::ExportDefaultDeclaration(export) => matches!(
            &export.declaration,
            ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.id.is_some()
        ),
        _ => false,
    }
}

/// Moves functions to the front: they become assignments, which are not hoisted.
pub fn hoist_functions(program: &mut Program<'_>) {
    program.body.sort_by_key(|statement| !is_hoisted(statement));
}

/// The last statement with an effect of its own.
pub fn last_statement<'p, 'a>(program: &'p Program<'a>) -> Option<&'p Statement<'a>> {
    let does_something = |statement: &&Statement<'_>| !is_hoisted(statement) && !is_empty(statement);
    program.body.iter().rev().find(does_something)
}

/// Whether a statement only names or types something. The removal of types may leave an empty export at the end.
fn is_empty(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::EmptyStatement(_)
        | Statement::ExportNamedDeclaration(_)
        | Statement::TSInterfaceDeclaration(_)
        | Statement::TSTypeAliasDeclaration(_) => true,
        Statement::ExportDeclaration(export) => matches!(
            export.declaration,
            Declaration::TSInterfaceDeclaration(_) | Declaration::TSTypeAliasDeclaration(_)
        ),
        _ => false,
    }
}

/// Reads the statements of a program without types; `code` is its text.
pub fn read(program: &Program<'_>, code: &str, value: ProgramValue) -> TopLevel {
    let last = last_statement(program);
    let mut reader = TopLevelReader {
        code,
        last: last.map(GetSpan::span).filter(|_| value == ProgramValue::Last),
        found: TopLevel {
            edits: Vec::new(),
            names: Vec::new(),
            assigns_result: false,
            module: free_name("$module", code),
        },
        default: None,
    };
    for statement in &program.body {
        reader.statement(statement);
    }
    if value == ProgramValue::Returned {
        return reader.found;
    }
    let value = match (last, program.directives.last()) {
        (Some(Statement::ExpressionStatement(last)), _) if has_value(&last.expression) => {
            Some((last.span, last.expression.span()))
        }
        (None, Some(last)) => Some((last.span, last.expression.span)),
        _ => None,
    };
    match (value, reader.default.take()) {
        (Some((statement, expression)), _) => reader.result(statement, expression),
        (None, Some(default)) => {
            reader.found.edits.push(Edit {
                start: code.len(),
                end: code.len(),
                text: format!("\nreturn {default};"),
            });
        }
        (None, None) => {}
    }
    let mut found = reader.found;
    found.assigns_result = found.names.iter().any(|name| name == RESULT) || assigns_result(code);
    found
}

/// Whether the text assigns `result`. A match in a comment or string is harmless: the variable has no value.
fn assigns_result(code: &str) -> bool {
    code.match_indices(RESULT).any(|(at, _)| {
        let starts = !code[..at].ends_with(|c: char| c.is_alphanumeric() || "_$.".contains(c));
        let rest = code[at + RESULT.len()..].trim_start();
        starts && rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>")
    })
}

/// Whether an expression's value may be the result.
fn has_value(expression: &Expression<'_>) -> bool {
    !matches!(
        expression.without_parentheses(),
        Expression::AssignmentExpression(_) | Expression::UpdateExpression(_)
    )
}

/// Reads one statement after the other.
struct TopLevelReader<'c> {
    code: &'c str,
    /// The last statement with an effect of its own.
    last: Option<Span>,
    found: TopLevel,
    /// The variable that holds the default export.
    default: Option<String>,
}

// === impl TopLevelReader ===

impl TopLevelReader<'_> {
    fn statement(&mut self, statement: &Statement<'_>) {
        match statement {
            Statement::VariableDeclaration(declared) => self.variables(declared, ";"),
            Statement::FunctionDeclaration(function) => self.function(function),
            Statement::ClassDeclaration(class) => self.class(class),
            Statement::ImportDeclaration(import) => self.import(import),
            Statement::ExportDeclaration(export) => {
                self.replace(export.span.start, export.declaration.span().start, "");
                match &export.declaration {
                    Declaration::VariableDeclaration(declared) => self.variables(declared, ";"),
                    Declaration::FunctionDeclaration(function) => self.function(function),
                    Declaration::ClassDeclaration(class) => self.class(class),
                    _ => {}
                }
            }
            Statement::ExportDefaultDeclaration(export) => self.export_default(export),
            Statement::ExportNamedDeclaration(export) => self.replace(export.span.start, export.span.end, ""),
            Statement::ExportFromDeclaration(export) => self.load(export.span, &export.source.value),
            Statement::ExportAllDeclaration(export) => self.load(export.span, &export.source.value),
            nested => nested::variables(self, nested),
        }
    }

    /// `const a = 1, b;` becomes `void (a = 1, b = void 0);`, and `var a = 1, b;` becomes `void (a = 1);`. In the head
    /// of a loop, `end` is empty.
    fn variables(&mut self, declared: &VariableDeclaration<'_>, end: &str) {
        let kept = [
            VariableDeclarationKind::Using,
            VariableDeclarationKind::AwaitUsing,
        ];
        if kept.contains(&declared.kind) {
            return;
        }
        self.bind(declared);
        // A `var` without a value keeps its present value.
        let stays = declared.kind == VariableDeclarationKind::Var;
        let assigned: Vec<&VariableDeclarator<'_>> = declared
            .declarations
            .iter()
            .filter(|declarator| !stays || declarator.init.is_some())
            .collect();
        let (Some(first), Some(last)) = (assigned.first(), assigned.last()) else {
            return self.replace(declared.span.start, declared.span.end, end);
        };
        self.replace(declared.span.start, first.span.start, "void (");
        for declarator in &assigned {
            if declarator.init.is_none() {
                self.replace(declarator.span.end, declarator.span.end, " = void 0");
            }
        }
        if assigned.len() < declared.declarations.len() {
            for (before, after) in assigned.iter().zip(&assigned[1..]) {
                self.replace(before.span.end, after.span.start, ", ");
            }
        }
        self.replace(last.span.end, declared.span.end, format!("){end}"));
    }

    /// Makes the declaration's names belong to the session.
    fn bind(&mut self, declared: &VariableDeclaration<'_>) {
        let names = &mut self.found.names;
        declared.bound_names(&mut |name| names.push(name.name.to_string()));
    }

    /// `function f() {}` becomes `f = function f() {};`. A function that uses its own name becomes anonymous, so that
    /// the name means the session's function, which later programs may redefine. The assignment names the function
    /// again.
    fn function(&mut self, function: &Function<'_>) {
        let Some(name) = &function.id else { return };
        self.found.names.push(name.name.to_string());
        self.replace(
            function.span.start,
            function.span.start,
            format!("{} = ", name.name),
        );
        if NameUse::occurs(&name.name, function) {
            self.replace(name.span.start, name.span.end, "");
        }
        self.replace(function.span.end, function.span.end, ";");
    }

    /// `class A {}` becomes `A = class A {};`.
    fn class(&mut self, class: &Class<'_>) {
        let Some(name) = &class.id else { return };
        self.found.names.push(name.name.to_string());
        self.replace(class.span.start, class.span.start, format!("{} = ", name.name));
        self.replace(class.span.end, class.span.end, ";");
    }

    /// The default export is the result, unless the last statement has a value.
    fn export_default(&mut self, export: &ExportDefaultDeclaration<'_>) {
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
            _ if self.last == Some(export.span) => self.result(export.span, declared),
            _ => {
                let name = free_name("$default", self.code);
                self.replace(export.span.start, declared.start, format!("var {name} = ("));
                self.replace(declared.end, export.span.end, ");");
                self.default = Some(name);
            }
        }
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
            self.found.names.push(local);
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
        let module = &self.found.module;
        let text = format!("void ({target} = {module}(await import({source}), {source}, [{wanted}]));");
        self.replace(import.span.start, import.span.end, text);
    }

    /// Imports a module for its effects.
    fn load(&mut self, place: Span, specifier: &str) {
        self.replace(
            place.start,
            place.end,
            format!("await import({});", literal(specifier)),
        );
    }

    /// Makes a statement's expression the result.
    fn result(&mut self, statement: Span, expression: Span) {
        self.replace(statement.start, expression.start, "return (");
        self.replace(expression.end, statement.end, ");");
    }

    fn replace(&mut self, start: u32, end: u32, text: impl Into<String>) {
        self.found.edits.push(Edit {
            start: start as usize,
            end: end as usize,
            text: text.into(),
        });
    }
}

/// Searches for uses of a name.
struct NameUse<'n> {
    name: &'n str,
    is_found: bool,
}

impl NameUse<'_> {
    /// Whether the name occurs in the function, even as a local variable.
    fn occurs(name: &str, function: &Function<'_>) -> bool {
        let mut finder = NameUse {
            name,
            is_found: false,
        };
        walk::walk_function(&mut finder, function, ScopeFlags::Function);
        finder.is_found
    }
}

impl<'a> Visit<'a> for NameUse<'_> {
    fn visit_identifier_reference(&mut self, used: &IdentifierReference<'a>) {
        self.is_found |= used.name == self.name;
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
