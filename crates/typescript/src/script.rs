//! A program of a session: a function whose top-level names belong to the session, and whose value is the result.
//!
//! ```text
//! const n = 1          async ($global, $module) => {"use strict";
//! function f() {}      $global.f = f;
//! n + 1           ─►   void (n = 1)
//!                      function f() {}
//!                      return (n + 1);
//!                      }
//! ```
//!
//! The engine defines each of [`Script::names`] before it calls the function.

mod dynamic_imports;
mod edits;
mod statements;

use oxc_allocator::Allocator;
use oxc_span::SourceType;

use crate::error::SyntaxError;
use crate::lines::LineMap;
use crate::strip;

/// Lines of the function before the program's first.
const HEAD_LINES: u32 = 1;

/// A program as the engine runs it.
#[derive(Debug)]
pub struct Script {
    /// An expression: an asynchronous function of the global object and of `$module`. The latter receives a module's
    /// namespace, its specifier and the names that the program imports, and returns the namespace.
    pub code: String,
    /// From `code` back to the text.
    pub lines: LineMap,
    /// Names that the program binds at its top level.
    pub names: Vec<String>,
    /// Whether the program assigns the variable `result`, which is its result if it has no other.
    pub assigns_result: bool,
}

/// Reads a program.
///
/// # Errors
/// The first error of the text.
pub fn script(source: &str) -> Result<Script, SyntaxError> {
    let stripped = strip::strip(source)?;
    let allocator = Allocator::default();
    let program = strip::parse(&allocator, &stripped.code, SourceType::mjs())?;
    let read = statements::read(&program, &stripped.code);
    let body = edits::apply(&stripped.code, read.edits);
    let functions: String = read
        .functions
        .iter()
        .map(|name| format!("$global.{name} = {name};"))
        .collect();
    Ok(Script {
        code: format!("(async ($global, $module) => {{\"use strict\";{functions}\n{body}\n}})"),
        lines: stripped.lines.moved_down(HEAD_LINES),
        assigns_result: read.assigns_result,
        names: read.names,
    })
}

impl Script {
    /// [`Script::code`] as a function of a third argument, `$bring`, which it calls in place of `import(…)`.
    pub fn with_import_function(&self) -> String {
        let code = dynamic_imports::through_function(&self.code);
        let function = dynamic_imports::FUNCTION;
        code.replacen("$module)", &format!("$module, {function})"), 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// What programs at random are made of.
    const WORDS: [&str; 40] = [
        "const", "let", "a", "b", "=", "1", ";", "(", ")", "{", "}", "[", "]", ",", "=>", "function", "f",
        "class", "C", "export", "default", "import", "from", "\"m\"", "*", "as", "enum", "E", ":", "string",
        "await", "async", "return", "if", "for", "of", "\n", "`x`", "...", ".",
    ];

    /// Checks the function's lines after its head, and the names.
    fn check(source: &str, expected: &str, names: &[&str]) {
        let script = script(source).unwrap_or_else(|error| panic!("{source}\n{error}"));
        let (head, body) = script.code.split_once('\n').expect("a head line");
        let functions = head
            .strip_prefix("(async ($global, $module) => {\"use strict\";")
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
            "$global.f = f;f();\nfunction f() {}",
            &["f"],
        );
        check(
            "export async function f() {}",
            "$global.f = f;async function f() {}",
            &["f"],
        );
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
        check("export interface A {}\n1", "return (1);", &[]);
        check("import type { A } from \"m\";\n1", "return (1);", &[]);
        check("'a text'", "return (\"a text\");", &[]);
        check("#!/usr/bin/env node\n1", "return (1);", &[]);
        check("```ts\n1\n```\n", "return (1);", &[]);
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
    }

    proptest! {
        /// Whatever is written, what comes of it is an expression of JavaScript.
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
