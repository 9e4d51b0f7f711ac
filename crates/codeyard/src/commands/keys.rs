//! `codeyard keys`: rotates the keys of recordings.

use environment::Machine;
use serde_json::json;
use server::{KeysAfter, RotatedKeys, RotationError};

use crate::cli::{KeysCommand, RotateKeys};
use crate::context::Context;
use crate::exit::{Exit, Failure};

pub async fn run(context: &Context, command: &KeysCommand) -> anyhow::Result<Exit> {
    match command {
        KeysCommand::Rotate(arguments) => rotate(context, arguments).await,
    }
}

async fn rotate(context: &Context, arguments: &RotateKeys) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let variable = settings::data_key(&Machine);
    let place = server::place_of_keys(&loaded.data_dir, variable.as_deref());
    let rotated = server::rotate_keys(loaded.database, &loaded.data_dir, variable.as_deref());
    let rotated = rotated.await.map_err(|error| {
        let exit = match error {
            RotationError::Keys(_) => Exit::Usage,
            RotationError::Database(_) => Exit::Broken,
        };
        Failure::new(exit, error)
    })?;
    match arguments.json {
        true => context.output.json(&document(&place, &rotated))?,
        false => context.output.print(&report(&place, &rotated))?,
    }
    Ok(Exit::Done)
}

fn document(place: &str, rotated: &RotatedKeys) -> serde_json::Value {
    let mut document = json!({
        "keys": place, "encrypted": rotated.encrypted, "logins": rotated.logins, "unreadable": rotated.unreadable,
    });
    match &rotated.keys {
        KeysAfter::InFile { removed } => document["removed_keys"] = json!(removed),
        KeysAfter::InVariable { unneeded } => document["unneeded_keys"] = json!(unneeded),
    }
    document
}

fn report(place: &str, rotated: &RotatedKeys) -> String {
    let mut lines = vec![match &rotated.keys {
        KeysAfter::InFile { .. } => format!("wrote a new key to {place}"),
        KeysAfter::InVariable { .. } => format!("used the first key of {place}"),
    }];
    lines.push(format!("encrypted again: {}", recordings(rotated.encrypted)));
    if rotated.logins > 0 {
        lines.push(format!("encrypted again: {} of users", logins(rotated.logins)));
    }
    if rotated.unreadable > 0 {
        lines.push(format!(
            "not decrypted by any key, and left: {}",
            recordings(rotated.unreadable)
        ));
    }
    match &rotated.keys {
        KeysAfter::InFile { removed: 0 } => {}
        KeysAfter::InFile { removed } => lines.push(format!("removed old keys: {removed}")),
        KeysAfter::InVariable { unneeded } if unneeded.is_empty() => {}
        KeysAfter::InVariable { unneeded } => {
            let numbers: Vec<String> = unneeded.iter().map(usize::to_string).collect();
            lines.push(format!("no longer needed: key {} of {place}", numbers.join(", ")));
        }
    }
    lines.join("\n") + "\n"
}

fn recordings(count: u64) -> String {
    match count {
        1 => "1 recording".to_owned(),
        count => format!("{count} recordings"),
    }
}

fn logins(count: u64) -> String {
    match count {
        1 => "1 login".to_owned(),
        count => format!("{count} logins"),
    }
}
