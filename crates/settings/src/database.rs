//! Selects the database of records and saved values: from the argument, else the variable, else a file.

use std::path::Path;

use environment::{Diagnostics, Environment};
use store::Database;

use crate::load::Arguments;

pub(crate) const VARIABLE: &str = "CODEYARD_DATABASE_URL";

/// The database; by default the file in the data directory.
pub(crate) fn find(
    arguments: &Arguments,
    data: &Path,
    env: &dyn Environment,
    diagnostics: &mut Diagnostics,
) -> Database {
    let default = || data.join(store::FILE).into();
    let Some((from, written)) = named(arguments, env) else {
        return default();
    };
    written.parse().unwrap_or_else(|error| {
        diagnostics.mistake(from, format!("{error}"));
        default()
    })
}

/// The option or variable that selects a database, and its value.
pub(crate) fn named(arguments: &Arguments, env: &dyn Environment) -> Option<(&'static str, String)> {
    if let Some(written) = &arguments.database {
        return Some(("--database", written.clone()));
    }
    let variable = env.var(VARIABLE).ok().flatten()?;
    (!variable.is_empty()).then_some((VARIABLE, variable))
}
