//! Resolves names to the tree of tools, a server, or a tool.

use std::collections::HashMap;

use oxc_ast::ast::{
    BindingPattern, Declaration, Expression, IdentifierReference, ImportDeclarationSpecifier, Program,
    PropertyKey, Statement, VariableDeclaration,
};
use oxc_semantic::{Scoping, SymbolId};

use super::Bound;

/// Path prefixes of importable tools.
const ROOTS: [&str; 2] = ["/tools/", "/servers/"];
/// A module below these prefixes that is neither a server nor a tool.
const RUNTIME: &str = "/tools/_runtime.ts";

/// A part of the tree of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    Tools,
    Server(String),
    /// Server and tool, as written.
    Tool(String, String),
}

impl Meaning {
    fn part(self, name: &str) -> Option<Meaning> {
        match self {
            Meaning::Tools => Some(Meaning::Server(name.to_owned())),
            Meaning::Server(server) => Some(Meaning::Tool(server, name.to_owned())),
            Meaning::Tool(..) => None,
        }
    }
}

/// The names of a program that resolve to a part of the tree.
pub struct ToolNames<'s> {
    scoping: &'s Scoping,
    bound: &'s Bound,
    known: HashMap<SymbolId, Meaning>,
}

impl<'s> ToolNames<'s> {
    pub fn of(program: &Program<'_>, scoping: &'s Scoping, bound: &'s Bound) -> Self {
        let mut names = Self {
            scoping,
            bound,
            known: HashMap::new(),
        };
        for statement in &program.body {
            match statement {
                Statement::VariableDeclaration(declared) => names.variables(declared),
                Statement::ExportDeclaration(export) => {
                    if let Declaration::VariableDeclaration(declared) = &export.declaration {
                        names.variables(declared);
                    }
                }
                Statement::ImportDeclaration(import) if import.source.value != RUNTIME => {
                    let Some(path) = ROOTS
                        .iter()
                        .find_map(|root| import.source.value.strip_prefix(root))
                    else {
                        continue;
                    };
                    for specifier in import.specifiers.iter().flatten() {
                        names.import(path, specifier);
                    }
                }
                _ => {}
            }
        }
        names
    }

    /// Resolves an expression.
    pub fn meaning(&self, expression: &Expression<'_>) -> Option<Meaning> {
        match expression.get_inner_expression() {
            Expression::Identifier(name) => self.of_name(name),
            Expression::StaticMemberExpression(member) => {
                self.meaning(&member.object)?.part(member.property.name.as_str())
            }
            Expression::ComputedMemberExpression(member) => match &member.expression {
                Expression::StringLiteral(name) => self.meaning(&member.object)?.part(name.value.as_str()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the program does not bind the name.
    pub fn is_global(&self, name: &IdentifierReference<'_>) -> bool {
        self.symbol(name).is_none() && !self.bound.contains(name.name.as_str())
    }

    fn of_name(&self, name: &IdentifierReference<'_>) -> Option<Meaning> {
        match self.symbol(name) {
            Some(symbol) => self.known.get(&symbol).cloned(),
            None if name.name == "tools" && self.is_global(name) => Some(Meaning::Tools),
            None => None,
        }
    }

    fn symbol(&self, name: &IdentifierReference<'_>) -> Option<SymbolId> {
        let reference = name.reference_id.get()?;
        self.scoping.get_reference(reference).symbol_id()
    }

    fn variables(&mut self, declared: &VariableDeclaration<'_>) {
        for declarator in &declared.declarations {
            if let Some(meaning) = declarator.init.as_ref().and_then(|init| self.meaning(init)) {
                self.bind(&declarator.id, meaning);
            }
        }
    }

    /// `const crm = tools.crm`, `const { find, ...rest } = tools.crm`.
    fn bind(&mut self, pattern: &BindingPattern<'_>, meaning: Meaning) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => self.know(name.symbol_id.get(), meaning),
            BindingPattern::ObjectPattern(object) => {
                for property in &object.properties {
                    let name = match &property.key {
                        PropertyKey::StaticIdentifier(name) => name.name.as_str(),
                        PropertyKey::StringLiteral(name) => name.value.as_str(),
                        _ => continue,
                    };
                    if let Some(part) = meaning.clone().part(name) {
                        self.bind(&property.value, part);
                    }
                }
            }
            _ => {}
        }
    }

    fn import(&mut self, path: &str, specifier: &ImportDeclarationSpecifier<'_>) {
        let path = [".ts", ".js", ".mts", ".mjs"]
            .iter()
            .find_map(|ending| path.strip_suffix(ending))
            .unwrap_or(path);
        let meaning = match path.split('/').collect::<Vec<_>>()[..] {
            [server] => Meaning::Server(server.to_owned()),
            [server, tool] => Meaning::Tool(server.to_owned(), tool.to_owned()),
            _ => return,
        };
        // The name of a namespace stands for the module, not for the tool.
        if !matches!(specifier, ImportDeclarationSpecifier::ImportNamespaceSpecifier(_)) {
            self.know(specifier.local().symbol_id.get(), meaning);
        }
    }

    /// A reassigned name may mean anything.
    fn know(&mut self, symbol: Option<SymbolId>, meaning: Meaning) {
        if let Some(symbol) = symbol
            && !self.scoping.symbol_is_mutated(symbol)
        {
            self.known.insert(symbol, meaning);
        }
    }
}
