//! Parses TypeScript and prints it without types.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer, TypeScriptOptions};

use crate::error::SyntaxError;
use crate::lines::LineMap;
use crate::{decorators, nested_new};

/// The library's name for every program.
const NAME: &str = "program.ts";

/// Maximum nesting of brackets. The parser and the engine use stack for each level.
const MAX_DEPTH: usize = 2_000;

/// Line terminators of ECMAScript.
const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];

const NO_DECORATORS: &str = "decorators are not supported; call the function on the class or method instead";

/// Room for text added by the removal of types, as a multiple of the source.
const EXCESS: f64 = 2.0;

/// JavaScript, and the map to its source.
pub struct Stripped {
    pub code: String,
    pub lines: LineMap,
}

/// Removes the types; `arrange` may reorder the rest.
///
/// # Errors
/// The first error of the text.
pub fn strip(source: &str, arrange: impl FnOnce(&mut Program<'_>)) -> Result<Stripped, SyntaxError> {
    let source = &*without_wrapping(source);
    if depth(source) > MAX_DEPTH {
        let message = format!("brackets are nested more than {MAX_DEPTH} deep");
        return Err(SyntaxError::nowhere(message));
    }
    let allocator = Allocator::default();
    let mut program = parse(&allocator, source, SourceType::ts().with_module(true))?;
    if let Some(at) = decorators::first(&program, source) {
        return Err(SyntaxError::at(NO_DECORATORS.to_owned(), at, source));
    }
    let semantic = SemanticBuilder::new()
        .with_check_syntax_error(true)
        .with_excess_capacity(EXCESS)
        .with_enum_eval(true)
        .build(&program);
    if let Some(error) = semantic.diagnostics.errors().next() {
        return Err(SyntaxError::of(error, source));
    }
    let scoping = semantic.semantic.into_scoping();
    let options = TransformOptions {
        typescript: TypeScriptOptions {
            // A later program of the session may use an import.
            only_remove_type_imports: true,
            ..TypeScriptOptions::default()
        },
        ..TransformOptions::default()
    };
    let transformer = Transformer::new(&allocator, Path::new(NAME), &options);
    let transformed = transformer.build_with_scoping(scoping, &mut program);
    if let Some(error) = transformed.diagnostics.errors().next() {
        return Err(SyntaxError::of(error, source));
    }
    arrange(&mut program);
    let printed = Codegen::new()
        .with_options(CodegenOptions {
            source_map_path: Some(PathBuf::from(NAME)),
            ..CodegenOptions::default()
        })
        .build(&program);
    let lines = printed.map.map_or_else(LineMap::default, |map| {
        LineMap::new(map.get_tokens().map(|token| {
            let generated = (token.get_dst_line(), token.get_dst_col());
            (generated, (token.get_src_line(), token.get_src_col()))
        }))
    });
    Ok(Stripped {
        code: nested_new::in_parentheses(printed.code),
        lines,
    })
}

/// The text without a `#!` line and without a Markdown fence around it. Line numbers stay.
fn without_wrapping(source: &str) -> Cow<'_, str> {
    if source.starts_with("#!") {
        return Cow::Borrowed(&source[source.find(LINE_ENDS).unwrap_or(source.len())..]);
    }
    let trimmed = source.trim_end();
    let Some(body) = trimmed
        .strip_suffix("```")
        .filter(|_| source.trim_start().starts_with("```"))
    else {
        return Cow::Borrowed(source);
    };
    match body
        .split_once('\n')
        .filter(|(first, _)| first.trim_start().starts_with("```"))
    {
        Some((_, inside)) => Cow::Owned(format!("\n{inside}")),
        None => Cow::Borrowed(source),
    }
}

/// The deepest nesting of brackets outside of quotes. Brackets in templates and comments count too.
fn depth(source: &str) -> usize {
    let (mut deepest, mut open) = (0, 0usize);
    let mut bytes = source.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            b'"' | b'\'' => skip_text(&mut bytes, byte),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// Skips the rest of a quoted text, at most to the end of the line.
fn skip_text(bytes: &mut std::str::Bytes<'_>, quote: u8) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'\n' => return,
            byte if byte == quote => return,
            _ => {}
        }
    }
}

/// # Errors
/// The first error of the text.
pub fn parse<'a>(
    allocator: &'a Allocator,
    source: &'a str,
    kind: SourceType,
) -> Result<Program<'a>, SyntaxError> {
    let options = ParseOptions {
        allow_return_outside_function: true,
        ..ParseOptions::default()
    };
    let parsed = Parser::new(allocator, source, kind).with_options(options).parse();
    match parsed.diagnostics.errors().next() {
        Some(error) => Err(SyntaxError::of(error, source)),
        None if parsed.panicked => Err(SyntaxError::nowhere("the program could not be parsed")),
        None => Ok(parsed.program),
    }
}
