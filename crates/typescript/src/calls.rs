//! Finds the tool calls that a program's text shows, with their visible arguments.
//!
//! Reads the forms `tools.server.tool({...})`, `tools["server"]["tool"]`, names bound to a server or tool, imports
//! from `/tools/` and `/servers/`, and `__toolcall__("server.tool", {...})`. Uncertain calls are left out.

mod arguments;
mod meaning;

use std::collections::BTreeSet;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    CallExpression, Expression, ExpressionStatement, Program, Statement, StaticMemberExpression, TryStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan, SourceType};
use types::{FoundCall, FoundCalls};

use crate::script::last_statement;
use crate::strip;
use meaning::{Meaning, ToolNames};

/// Names bound by a session's earlier programs, whose meaning is unknown.
pub type Bound = BTreeSet<String>;

/// The calls of a program; none if the program cannot be parsed.
pub fn calls(source: &str, bound: &Bound) -> FoundCalls {
    if !["tools", "servers", "__toolcall__"]
        .iter()
        .any(|word| source.contains(word))
    {
        return FoundCalls::default();
    }
    let allocator = Allocator::default();
    let Ok(program) = strip::parse(&allocator, source, SourceType::ts().with_module(true)) else {
        return FoundCalls::default();
    };
    let semantic = SemanticBuilder::new().build(&program).semantic;
    let names = ToolNames::of(&program, semantic.scoping(), bound);
    let mut finder = Finder {
        source,
        names: &names,
        last: last_expression(&program),
        catching: 0,
        dropped: None,
        early: None,
        found: FoundCalls::default(),
    };
    finder.visit_program(&program);
    finder.found
}

/// Start of the expression whose value is the program's value.
fn last_expression(program: &Program<'_>) -> Option<u32> {
    match last_statement(program)? {
        Statement::ExpressionStatement(last) => Some(last.span.start),
        _ => None,
    }
}

struct Finder<'s> {
    source: &'s str,
    names: &'s ToolNames<'s>,
    /// Start of the expression that is the program's result, which is awaited.
    last: Option<u32>,
    /// Number of enclosing blocks that catch errors.
    catching: u32,
    /// Start of a call that is its own statement.
    dropped: Option<u32>,
    /// Start of a call whose promise has a field read.
    early: Option<u32>,
    found: FoundCalls,
}

impl Finder<'_> {
    fn line(&self, offset: u32) -> u32 {
        let before = &self.source.as_bytes()[..(offset as usize).min(self.source.len())];
        u32::try_from(memchr::memchr_iter(b'\n', before).count() + 1).unwrap_or(u32::MAX)
    }

    fn tool(&self, call: &CallExpression<'_>) -> Option<(String, String, usize)> {
        if let Expression::Identifier(name) = call.callee.without_parentheses()
            && name.name == "__toolcall__"
            && self.names.is_global(name)
        {
            return toolcall(call);
        }
        match self.names.meaning(&call.callee)? {
            Meaning::Tool(server, tool) => Some((server, tool, 0)),
            Meaning::Tools | Meaning::Server(_) => None,
        }
    }
}

/// `__toolcall__("server.tool", arguments)` or `__toolcall__("server", "tool", arguments)`: names, and the index of
/// the arguments.
fn toolcall(call: &CallExpression<'_>) -> Option<(String, String, usize)> {
    let text = |index: usize| match call.arguments.get(index)?.as_expression()? {
        Expression::StringLiteral(text) => Some(text.value.to_string()),
        _ => None,
    };
    let first = text(0)?;
    if let Some(second) = text(1) {
        return Some((first, second, 2));
    }
    let (server, tool) = first.split_once(['.', '/'])?;
    Some((server.to_owned(), tool.to_owned(), 1))
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_expression_statement(&mut self, statement: &ExpressionStatement<'a>) {
        if self.last != Some(statement.span.start) {
            self.dropped = Some(statement.expression.without_parentheses().span().start);
        }
        walk::walk_expression_statement(self, statement);
        self.dropped = None;
    }

    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        if !["then", "catch", "finally"].contains(&member.property.name.as_str())
            && matches!(member.object.without_parentheses(), Expression::CallExpression(_))
        {
            self.early = Some(member.object.without_parentheses().span().start);
        }
        walk::walk_static_member_expression(self, member);
    }

    fn visit_try_statement(&mut self, statement: &TryStatement<'a>) {
        let catches = u32::from(statement.handler.is_some());
        self.catching += catches;
        self.visit_block_statement(&statement.block);
        self.catching -= catches;
        if let Some(handler) = &statement.handler {
            self.visit_catch_clause(handler);
        }
        if let Some(finalizer) = &statement.finalizer {
            self.visit_block_statement(finalizer);
        }
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        let forgives = match &call.callee {
            Expression::StaticMemberExpression(member) => {
                ["catch", "allSettled", "any"].contains(&member.property.name.as_str())
                    || (member.property.name == "then" && call.arguments.len() > 1)
            }
            _ => false,
        };
        if let Some((server, tool, at)) = self.tool(call) {
            let start = call.span.start;
            self.found.calls.push(FoundCall {
                line: self.line(start),
                server,
                tool,
                arguments: arguments::of(call, at),
                words: Vec::new(),
                is_expected: self.catching > 0,
                is_dropped: self.dropped == Some(start),
                is_used_early: self.early == Some(start),
            });
        }
        self.catching += u32::from(forgives);
        walk::walk_call_expression(self, call);
        self.catching -= u32::from(forgives);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks the calls as `line server.tool arguments marks`.
    fn check(source: &str, expected: &[&str]) {
        check_after(source, &[], expected);
    }

    fn check_after(source: &str, bound: &[&str], expected: &[&str]) {
        let bound = bound.iter().map(|name| (*name).to_owned()).collect();
        let shown: Vec<String> = calls(source, &bound).calls.iter().map(shown).collect();
        assert_eq!(shown, expected, "{source}");
    }

    fn shown(call: &FoundCall) -> String {
        let arguments = match &call.arguments {
            types::FoundArguments::Unknown => "?".to_owned(),
            types::FoundArguments::Wrong(what) => format!("<{what}>"),
            types::FoundArguments::Known {
                arguments,
                unknown,
                open,
            } => {
                let mut text = json!(arguments).to_string();
                if !unknown.is_empty() {
                    text += &format!(" unknown {}", json!(unknown));
                }
                if !open.is_empty() {
                    text += &format!(" open {}", json!(open));
                }
                text
            }
        };
        let marks = [
            (call.is_expected, " expected"),
            (call.is_dropped, " dropped"),
            (call.is_used_early, " early"),
        ];
        let marks: String = marks
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, mark)| *mark)
            .collect();
        format!("{} {}.{} {arguments}{marks}", call.line, call.server, call.tool)
    }

    #[test]
    fn every_form_of_a_call_is_found() {
        check("await tools.crm.find({id: 1})", &[r#"1 crm.find {"id":1}"#]);
        check("\nawait tools['my-crm'][\"find-it\"]()", &["2 my-crm.find-it {}"]);
        check("const crm = tools.crm; await crm.find({})", &["1 crm.find {}"]);
        check("const { find: f } = tools.crm; await f({})", &["1 crm.find {}"]);
        check("const { crm } = tools; await crm.find({})", &["1 crm.find {}"]);
        check(
            "import { find } from '/tools/crm/find.ts'; await find({})",
            &["1 crm.find {}"],
        );
        check(
            "import crm from '/tools/crm'; await crm.find({})",
            &["1 crm.find {}"],
        );
        check(
            "await __toolcall__('crm.find', {a: 'b'})",
            &[r#"1 crm.find {"a":"b"}"#],
        );
        check("await __toolcall__('crm', 'find', {})", &["1 crm.find {}"]);
        check("await (tools as any).crm!.find({} as any)", &["1 crm.find {}"]);
    }

    #[test]
    fn ambiguous_calls_are_left_out() {
        check("const tools = {crm: {find() {}}}; tools.crm.find()", &[]);
        check("function f(tools) { return tools.crm.find({}) }", &[]);
        check("let crm = tools.crm; crm = other; crm.find({})", &[]);
        check("tools[name].find({})", &[]);
        check_after("tools.crm.find({})", &["tools"], &[]);
        check("const a = (", &[]);
    }

    #[test]
    fn arguments_are_read_as_far_as_they_are_written() {
        check(
            "await tools.a.b({x: [1, -2.5, true, null, `t`], y: {z: v}, ...more, [k]: 1, w})",
            &[
                r#"1 a.b {"x":[1,-2.5,true,null,"t"],"y":{"z":null},"w":null} unknown [["y","z"],["w"]] open [[],[]]"#,
            ],
        );
        check("await tools.a.b({x: undefined})", &[r#"1 a.b {} open [[]]"#]);
        check("await tools.a.b(args)", &["1 a.b ?"]);
        check("await tools.a.b(...args)", &["1 a.b ?"]);
        check("await tools.a.b('x')", &["1 a.b <a string>"]);
        check("await tools.a.b([1])", &["1 a.b <an array>"]);
        check("await tools.a.b({}, {})", &["1 a.b <two values>"]);
    }

    #[test]
    fn unawaited_promises_are_found() {
        check("tools.a.b(); 1", &["1 a.b {} dropped"]);
        check(
            "tools.a.b();; function f() {} interface A {} export type B = A",
            &["1 a.b {}"],
        );
        check("1; tools.a.b()", &["1 a.b {}"]);
        check("const x = tools.a.b(); await x", &["1 a.b {}"]);
        check("const x = tools.a.b().rows", &["1 a.b {} early"]);
        check("await tools.a.b().then(f); 1", &["1 a.b {}"]);
        check("(await tools.a.b()).rows", &["1 a.b {}"]);
    }

    #[test]
    fn calls_that_may_fail_are_expected() {
        check(
            "try { await tools.a.b() } catch { await tools.a.c() }",
            &["1 a.b {} expected", "1 a.c {}"],
        );
        check("await tools.a.b().catch(f); 1", &["1 a.b {} expected"]);
        check(
            "await Promise.allSettled([tools.a.b()]); 1",
            &["1 a.b {} expected"],
        );
    }
}
