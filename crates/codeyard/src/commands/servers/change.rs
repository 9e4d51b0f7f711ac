//! Removes servers, and says which are used.

use std::path::Path;

use config::{Defined, Machine, ServerFile, Use};
use serde_json::json;

use super::{add, consent_failure, edit_failure, find, open, unknown};
use crate::ask::agreed;
use crate::cli::ChangeServer;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::harmless;

/// Removes it, after asking.
pub(super) fn remove(context: &Context, change: &ChangeServer, json: bool) -> anyhow::Result<Exit> {
    let (mut file, data) = open(context)?;
    let name = &change.name;
    in_file(context, &file, name)?;
    let path = file.path.display().to_string();
    let question = harmless(&format!("remove `{name}` from {path}?"));
    if !change.yes && !agreed(&context.output, &question)? {
        context.output.tell("nothing was removed");
        return Ok(Exit::Done);
    }
    file.remove(name);
    file.save(&Machine).map_err(edit_failure)?;
    config::forget(&file.path, name, &data, &Machine).map_err(consent_failure)?;
    done(
        context,
        json,
        "removed",
        name,
        &format!("removed `{name}` from {path}"),
    )
}

/// Uses it again; asks where it starts something else than what was agreed to.
pub(super) fn enable(context: &Context, change: &ChangeServer, json: bool) -> anyhow::Result<Exit> {
    let (mut file, data) = open(context)?;
    let name = &change.name;
    in_file(context, &file, name)?;
    let defined = find(context, name)?;
    if !consented(context, &defined, change.yes, &data)? {
        context.output.tell("nothing was changed");
        return Ok(Exit::Done);
    }
    let enabled = file.set_disabled(name, false);
    if enabled {
        file.save(&Machine).map_err(edit_failure)?;
    }
    let already = if enabled || defined.use_ == Use::Changed {
        "is used from now on"
    } else {
        "is used already"
    };
    done(context, json, "enabled", name, &format!("`{name}` {already}"))
}

/// Keeps it and does not use it.
pub(super) fn disable(context: &Context, name: &str, json: bool) -> anyhow::Result<Exit> {
    let (mut file, _) = open(context)?;
    in_file(context, &file, name)?;
    let told = if file.set_disabled(name, true) {
        file.save(&Machine).map_err(edit_failure)?;
        format!("`{name}` is not used any more; `codeyard servers enable {name}` changes that")
    } else {
        format!("`{name}` is disabled already")
    };
    done(context, json, "disabled", name, &told)
}

/// Whether a person has agreed to what the server starts; asks where that has changed since they did.
pub(super) fn consented(
    context: &Context,
    defined: &Defined,
    yes: bool,
    data: &Path,
) -> anyhow::Result<bool> {
    let Some(server) = defined.server.as_ref().filter(|_| defined.use_ == Use::Changed) else {
        return Ok(true);
    };
    let output = &context.output;
    output.tell(&format!(
        "{}\nthis is not what was agreed to when it was added",
        add::told(server)
    ));
    if !yes && !agreed(output, "use it so from now on?")? {
        return Ok(false);
    }
    config::agree(&defined.file, server, data, &Machine).map_err(consent_failure)?;
    Ok(true)
}

/// The server must be in the file that is changed; if it is in another one, that is named.
fn in_file(context: &Context, file: &ServerFile, name: &str) -> anyhow::Result<()> {
    if file.names().any(|known| known == name) {
        return Ok(());
    }
    let elsewhere = config::defined(&context.sources(), &Machine);
    let message = match elsewhere.iter().find(|defined| defined.name == name) {
        Some(defined) => format!(
            "`{name}` is defined in {}; change it there, or name that file with --config",
            defined.file.display()
        ),
        None => unknown(name, &file.names().collect::<Vec<_>>()),
    };
    Err(Failure::new(Exit::Usage, harmless(&message)).into())
}

fn done(context: &Context, json: bool, what: &str, name: &str, told: &str) -> anyhow::Result<Exit> {
    if json {
        context.output.json(&json!({ what: name }))?;
    } else {
        context.output.line(&harmless(told))?;
    }
    Ok(Exit::Done)
}
