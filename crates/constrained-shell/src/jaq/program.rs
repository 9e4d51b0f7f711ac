//! Compiles a filter and runs it over documents.

use std::fmt::{self, Write};

use jaq_core::compile::Undefined;
use jaq_core::load::lex::Expect;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Exn, Filter, Vars, compile};
use jaq_json::Val;

use super::watch::{Steps, Watch, Watched};
use super::{builtins, documents, results};
use crate::jq::JqError;

/// Maximum characters of a value in an error.
const SHOWN: usize = 200;

/// Hands each result, as a line, to `print`.
pub(super) fn run(
    filter: &str,
    documents: &[u8],
    watch: &Watch,
    print: impl Fn(&[u8]) -> Result<(), JqError>,
) -> Result<(), JqError> {
    let filter = compiled(filter)?;
    for document in documents::read(documents) {
        let steps = Steps {
            terms: &filter.lut,
            watch,
        };
        let context = Ctx::<Watched>::new(steps, Vars::new([]));
        for result in filter.id.run((context, document?)) {
            let value = result.map_err(failed)?;
            let (line, end) = results::line(&value);
            print(&line)?;
            end?;
            watch.step();
        }
    }
    Ok(())
}

fn compiled(filter: &str) -> Result<Filter<Watched>, JqError> {
    let arena = Arena::default();
    let file = File {
        code: filter,
        path: (),
    };
    let loaded = Loader::new(builtins::definitions()).load(&arena, file);
    let modules = loaded.map_err(|errors| JqError::Filter(first(errors, not_loaded)))?;
    let imported = load::import(&modules, |_| Err("module loading not supported".to_owned()));
    imported.map_err(|errors| JqError::Filter(first(errors, not_loaded)))?;
    let compiled = Compiler::default()
        .with_funs(builtins::natives())
        .compile(modules);
    compiled.map_err(|errors| JqError::Filter(first(errors, not_compiled)))
}

/// The first error; the others often follow from it.
fn first<E>(errors: load::Errors<&str, (), E>, message: impl Fn(E) -> Option<String>) -> String {
    let message = errors.into_iter().find_map(|(_, error)| message(error));
    message.unwrap_or_else(|| "it does not parse".to_owned())
}

fn not_loaded(error: load::Error<&str>) -> Option<String> {
    match error {
        load::Error::Io(errors) => errors.first().map(|(path, cause)| format!("{path}: {cause}")),
        load::Error::Lex(errors) => errors.first().map(|(expected, found)| match expected {
            Expect::Delim(open) => format!("'{open}' is not closed"),
            _ => format!("expected {}, found {}", expected.as_str(), shown(found)),
        }),
        load::Error::Parse(errors) => {
            let (expected, found) = errors.first()?;
            Some(format!("expected {}, found {}", expected.as_str(), shown(found)))
        }
    }
}

fn not_compiled(errors: Vec<compile::Error<&str>>) -> Option<String> {
    let (name, undefined) = errors.into_iter().next()?;
    Some(match undefined {
        Undefined::Filter(0) => format!("{name} is not defined"),
        Undefined::Filter(arguments) => format!("{name} with {arguments} arguments is not defined"),
        undefined => format!("{} {name} is not defined", undefined.as_str()),
    })
}

/// The place where the parser stopped.
fn shown(found: &str) -> String {
    if found.is_empty() {
        return "the end".to_owned();
    }
    format!("'{}'", beginning(found))
}

/// `halt` and `halt_error` are omitted, so only errors arrive here.
fn failed(error: Exn<'_, Val>) -> JqError {
    let Ok(error) = error.get_err() else {
        return JqError::Filter("it does not end".to_owned());
    };
    let mut shown = Beginning(String::new());
    // The rest of a long value is dropped.
    _ = write!(shown, "{error}");
    if !shown.0.starts_with('"') {
        return JqError::Filter(beginning(&shown.0));
    }
    // An error raised by the filter itself.
    match error.into_val() {
        Val::TStr(text) => JqError::Filter(beginning(&String::from_utf8_lossy(&text))),
        _ => JqError::Filter(beginning(&shown.0)),
    }
}

/// Collects somewhat more than is shown. A value may be too large to write whole.
struct Beginning(String);

impl fmt::Write for Beginning {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push_str(text);
        if self.0.len() > 4 * SHOWN {
            Err(fmt::Error)
        } else {
            Ok(())
        }
    }
}

fn beginning(text: &str) -> String {
    let (end, mark) = match text.char_indices().nth(SHOWN) {
        Some((end, _)) => (end, "…"),
        None => (text.len(), ""),
    };
    types::spelled_out(&text[..end]) + mark
}
