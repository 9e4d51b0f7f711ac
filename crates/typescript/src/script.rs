//! A program of a session: a function whose top-level names belong to the session, and whose value is the result.
//!
//! ```text
//! const n = 1          async ($module) => {"use strict";
//! function f() {}      f = function f() {};
//! n + 1           ─►   void (n = 1);
//!                      return (n + 1);
//!                      }
//! ```
//!
//! The engine defines each of [`Script::names`] before it calls the function.

mod dynamic_imports;
pub mod edits;
mod import_meta;
mod statements;

use oxc_allocator::Allocator;
use oxc_span::SourceType;

use crate::error::SyntaxError;
use crate::lines::LineMap;
use crate::strip;

pub use statements::last_statement;

/// Number of generated lines before the program's first line.
const HEAD_LINES: u32 = 1;

/// Replaces `import` in dynamic imports. The name has the same length, which preserves columns.
const BRING: &str = "$bring";

/// Which value of a program is the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramValue {
    /// The returned value, else the value of the last statement, the default export, or the variable `result`.
    Last,
    /// Only the returned value.
    Returned,
}

/// A program in the engine's form.
#[derive(Debug)]
pub struct Script {
    /// An expression: an asynchronous function with the parameter `$module`. That function receives a module's
    /// namespace, its specifier and the imported names, and returns the namespace.
    pub code: String,
    /// From `code` back to the text.
    pub lines: LineMap,
    /// Names that the program binds at its top level.
    pub names: Vec<String>,
    /// Whether the program assigns `result`, which is its result if it has no other.
    pub assigns_result: bool,
}

/// Reads a program.
///
/// # Errors
/// The first error of the text.
pub fn script(source: &str, value: ProgramValue) -> Result<Script, SyntaxError> {
    let stripped = strip::strip(source, statements::hoist_functions)?;
    let allocator = Allocator::default();
    let program = strip::parse(&allocator, &stripped.code, SourceType::mjs())?;
    let mut read = statements::read(&program, &stripped.code, value);
    let meta = free_name("$meta", &stripped.code);
    let uses_of_meta = import_meta::through_variable(&program, &stripped.code, &meta);
    let meta = match uses_of_meta.as_slice() {
        [] => String::new(),
        _ => format!("const {meta} = {{__proto__: null}};"),
    };
    read.edits.extend(uses_of_meta);
    let body = edits::apply(&stripped.code, read.edits);
    let module = read.module;
    Ok(Script {
        code: format!("(async ({module}) => {{\"use strict\";{meta}\n{body}\n}})"),
        lines: stripped.lines.moved_down(HEAD_LINES),
        assigns_result: read.assigns_result,
        names: read.names,
    })
}

/// A name like `wanted` that the code does not contain.
fn free_name(wanted: &str, code: &str) -> String {
    let mut name = wanted.to_owned();
    while code.contains(&name) {
        name.push('_');
    }
    name
}

impl Script {
    /// [`Script::code`] with a second parameter: the function called instead of `import(…)`.
    pub fn with_import_function(&self) -> String {
        let name = free_name(BRING, &self.code);
        let code = dynamic_imports::through_function(&self.code, &name);
        code.replacen(") =>", &format!(", {name}) =>"), 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// Pieces of random programs.
    const WORDS: [&str; 44] = [
        "const", "let", "a", "b", "=", "1", ";", "(", ")", "{", "}", "[", "]", ",", "=>", "function", "f",
        "class", "C", "export", "default", "import", "from", "\"m\"", "*", "as", "enum", "E", ":", "string",
        "await", "async", "return", "if", "for", "of", "\n", "`x`", "...", ".", "var", "in", "new", "meta",
    ];

    fn script(source: &str) -> Result<Script, SyntaxError> {
        super::script(source, ProgramValue::Last)
    }

    /// Checks the function's lines after its head, and the names.
    fn check(source: &str, expected: &str, names: &[&str]) {
        let script = script(source).unwrap_or_else(|error| panic!("{source}\n{error}"));
        let (head, body) = script.code.split_once('\n').expect("a head line");
        let functions = head
            .strip_prefix("(async ($module) => {\"use strict\";")
            .unwrap_or(head);
        let body = body.trim_end_matches("\n})").trim_end();
        assert_eq!(format!("{functions}{body}"), expected, "{source}");
        assert_eq!(script.names, names, "{source}");
    }

    #[test]
    fn top_level_names_become_the_session_s() {
        check("const a = 1;", "void (a = 1);", &["a"]);
        check("let a: number = 1, b;", "void (a = 1, b = void 0);", &["a", "b"]);
        check(
            "const {a, b: [c = 2, ...d]} = f();",
            "void ({ a, b: [c = 2, ...d] } = f());",
            &["a", "c", "d"],
        );
        check("class A {}", "A = class A {};", &["A"]);
        check("export const a = 1;", "void (a = 1);", &["a"]);
        check(
            "enum E { A = 1 }",
            "void (E = /* @__PURE__ */ function(E) {\n\tE[E[\"A\"] = 1] = \"A\";\n\treturn E;\n}(E || {}));",
            &["E"],
        );
        check("interface I { a: string }", "", &[]);
        check(
            "for (let i = 0; i < 2; i++) {}",
            "for (let i = 0; i < 2; i++) {}",
            &[],
        );
    }

    #[test]
    fn functions_are_known_before_they_are_written() {
        check(
            "f(); function f() {}",
            "f = function f() {};\nreturn (f());",
            &["f"],
        );
        check(
            "export async function f() {}",
            "f = async function f() {};",
            &["f"],
        );
        check("export default function* g() {}", "g = function* g() {};", &["g"]);
    }

    #[test]
    fn functions_see_the_session_s_name_instead_of_themselves() {
        check(
            "function f(n) { return n && f(n - 1) }",
            "f = function (n) {\n\treturn n && f(n - 1);\n};",
            &["f"],
        );
        check(
            "function f() { f = 1 }",
            "f = function () {\n\tf = 1;\n};",
            &["f"],
        );
        check(
            "function f({ f: g }) { g.f }",
            "f = function f({ f: g }) {\n\tg.f;\n};",
            &["f"],
        );
    }

    #[test]
    fn variables_of_var_are_the_session_s_wherever_they_are_declared() {
        check("var a = 1, b, c = 2;", "void (a = 1, c = 2);", &["a", "b", "c"]);
        check("var a, b;", ";", &["a", "b"]);
        check(
            "if (a) var b = 1; else { var c }",
            "if (a) void (b = 1);\nelse {\n\t;\n}",
            &["b", "c"],
        );
        check(
            "for (var i = 0, { x } = y, n; ; ) break",
            "for (void (i = 0, { x } = y);;) break;",
            &["i", "x", "n"],
        );
        check("for (var i; ; ) break", "for (;;) break;", &["i"]);
        check("for (var a of b) f(a)", "for (a of b) f(a);", &["a"]);
        check("for (var [a] in b) f(a)", "for ([a] in b) f(a);", &["a"]);
        check("for (var async of b);", "for ((async) of b);", &["async"]);
        check("() => { var a }", "return (() => {\n\tvar a;\n});", &[]);
    }

    #[test]
    fn names_of_the_function_s_own_give_way() {
        let script = |source| super::script(source, ProgramValue::Last).expect("valid");
        let code = script("const $module = 1").code;
        assert!(code.starts_with("(async ($module_) =>"), "{code}");
        let code = script("const $bring = import('a')").with_import_function();
        assert!(code.starts_with("(async ($module, $bring_) =>"), "{code}");
    }

    #[test]
    fn programs_have_an_import_meta() {
        let script = script("f(import.meta.url, 'import.meta')").expect("valid");
        let head = "(async ($module) => {\"use strict\";const $meta = {__proto__: null};\n";
        let expected = format!("{head}return (f($meta.url, \"import.meta\"));\n\n}})");
        assert_eq!(script.code, expected);
    }

    #[test]
    fn a_last_expression_is_the_result() {
        check("1 + 1", "return (1 + 1);", &[]);
        check("({a: 1})", "return (({ a: 1 }));", &[]);
        check("await f()", "return (await f());", &[]);
        check("a = 2", "a = 2;", &[]);
        check("i++", "i++;", &[]);
        check("if (a) b", "if (a) b;", &[]);
        check("return 3", "return 3;", &[]);
        check("export default 4", "return (4);", &[]);
        check("export default 4; f()", "var $default = (4);\nreturn (f());", &[]);
        check(
            "export default 4; a = 1",
            "var $default = (4);\na = 1;\n\nreturn $default;",
            &[],
        );
        check("1;;", "return (1);\n;", &[]);
        check("1; export { a }", "return (1);", &[]);
        check(
            "f(); function f() {}",
            "f = function f() {};\nreturn (f());",
            &["f"],
        );
        check("export interface A {}\n1", "return (1);", &[]);
        check("import type { A } from \"m\";\n1", "return (1);", &[]);
        check("'a text'", "return (\"a text\");", &[]);
        check("#!/usr/bin/env node\n1", "return (1);", &[]);
        check("#!/usr/bin/env node\u{2028}1", "return (1);", &[]);
        check("```ts\n1\n```\n", "return (1);", &[]);
    }

    #[test]
    fn only_what_is_returned_may_be_the_result() {
        let check = |source: &str, expected: &str| {
            let script = super::script(source, ProgramValue::Returned).expect("valid");
            let body = script
                .code
                .split_once('\n')
                .map(|(_, body)| body.trim_end_matches("\n})").trim_end());
            assert_eq!(body, Some(expected), "{source}");
            assert!(!script.assigns_result, "{source}");
        };
        check("1 + 1", "1 + 1;");
        check("if (a) return 1\nf()", "if (a) return 1;\nf();");
        check("export default 4", "var $default = (4);");
        check("result = 1", "result = 1;");
    }

    #[test]
    fn imports_are_awaited_in_their_place() {
        check(
            "import d, { a, b as c } from \"./m.ts\";",
            "void ({default: d, \"a\": a, \"b\": c} = $module(await import(\"./m.ts\"), \"./m.ts\", [\"default\", \"a\", \"b\"]));",
            &["d", "a", "c"],
        );
        check(
            "import * as m from \"m\"",
            "void (m = $module(await import(\"m\"), \"m\", []));",
            &["m"],
        );
        check("import \"m\"", "await import(\"m\");", &[]);
        check("import type { A } from \"m\"", "", &[]);
        check("export * from \"m\"", "await import(\"m\");", &[]);
    }

    #[test]
    fn a_variable_result_counts_if_it_is_assigned() {
        let check = |source: &str, expected| {
            assert_eq!(
                script(source).expect("valid").assigns_result,
                expected,
                "{source}"
            );
        };
        check("const result = 1", true);
        check("result = 1", true);
        check("if (a) { result = 1 }", true);
        check("result + 1", false);
        check("const results = 1", false);
    }

    #[test]
    fn errors_show_their_line() {
        let check = |source: &str, expected: &str| {
            assert_eq!(
                script(source).expect_err(source).to_string(),
                expected,
                "{source}"
            );
        };
        check(
            "let a = 1;\nlet b = ;",
            "let b = ;\n        ^\nSyntaxError: Unexpected token",
        );
        check(
            "1;\nclass A { @log m() {} }",
            "class A { @log m() {} }\n          ^\nSyntaxError: decorators are not supported; call the function on the class or \
             method instead",
        );
    }

    proptest! {
        /// Every program becomes one JavaScript expression.
        #[test]
        fn scripts_are_expressions(words in vec(select(WORDS.to_vec()), 0..24)) {
            let source = words.join(" ");
            if let Ok(script) = script(&source) {
                let again = crate::module(&format!("const program = {};", script.code));
                prop_assert!(again.is_ok(), "{source}\n{}\n{again:?}", script.code);
            }
        }
    }

    #[test]
    fn deep_programs_are_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(script(&nested(500)).is_ok());
        let error = script(&nested(5_000)).expect_err("too deep");
        assert!(error.message.contains("nested more than"), "{error}");
        assert!(script(&format!("'{}'", "(".repeat(5_000))).is_ok());
    }

    #[test]
    fn lines_lead_back_to_the_text() {
        let script = script("interface A {\n  a: string\n}\n\nf(\n  1)").expect("valid");
        let at = script
            .code
            .lines()
            .position(|line| line.contains("f("))
            .expect("printed");
        let line = u32::try_from(at + 1).expect("few lines");
        assert_eq!(script.lines.source(line, 1).map(|(line, _)| line), Some(5));
    }
}
