//! Compiles a filter and runs it over documents.

use jaq_core::compile::Undefined;
use jaq_core::load::lex::Expect;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Exn, Filter, Vars, compile};
use jaq_json::Val;

use super::watch::{Steps, Watch, Watched};
use super::{documents, natives, results};
use crate::jq::JqError;

/// Characters of a value that an error shows.
const SHOWN: usize = 200;

/// Hands each result, as a line, to `send`.
pub(super) fn run(
    filter: &str,
    documents: &[u8],
    watch: &Watch,
    mut send: impl FnMut(Vec<u8>) -> Result<(), JqError>,
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
            send(line)?;
            end?;
            watch.step();
        }
    }
    Ok(())
}

fn compiled(filter: &str) -> Result<Filter<Watched>, JqError> {
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let arena = Arena::default();
    let file = File { code: filter, path: () };
    let loaded = Loader::new(definitions).load(&arena, file);
    let modules = loaded.map_err(|errors| JqError::Filter(first(errors, not_loaded)))?;
    let compiled = Compiler::default().with_funs(natives::all()).compile(modules);
    compiled.map_err(|errors| JqError::Filter(first(errors, not_compiled)))
}

/// The first of the errors: the others often follow from it.
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

/// Where the parser has stopped.
fn shown(found: &str) -> String {
    if found.is_empty() {
        return "the end".to_owned();
    }
    format!("'{}'", beginning(found))
}

/// `halt` and `halt_error` are not among the natives, so nothing but errors comes here.
fn failed(error: Exn<'_, Val>) -> JqError {
    let message = error.get_err().map(|error| error.to_string());
    JqError::Filter(message.map_or_else(|_| "it does not end".to_owned(), |message| beginning(&message)))
}

fn beginning(text: &str) -> String {
    let mut shown = types::spelled_out(text);
    if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}
