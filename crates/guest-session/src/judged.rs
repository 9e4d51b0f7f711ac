//! Asks the host to check a program's calls before the program runs.

use std::io;

use serde_json::{Value, json};
use types::{CHECK_CALL, CheckAnswer, FoundCalls};

use crate::channel::{Channel, Frame, Reply};

/// Id of the host call that checks a program. Ids of the program's calls begin at 1.
const CHECK_ID: u64 = 0;

/// Whether the host refuses a program with these calls. A program without calls is not checked.
///
/// # Errors
/// If the host is gone.
pub fn is_refused(channel: &Channel, found: &FoundCalls, must_stop: &dyn Fn() -> bool) -> io::Result<bool> {
    if found.calls.is_empty() {
        return Ok(false);
    }
    let call = json!({"t": "call", "id": CHECK_ID, "name": CHECK_CALL, "args": found});
    channel.push(&serde_json::to_vec(&call)?);
    channel.flush()?;
    loop {
        match channel.next()? {
            Some(Frame::Reply(Reply { id: CHECK_ID, ok, .. })) => {
                let verdict = ok.and_then(|ok| serde_json::from_str::<CheckAnswer>(ok.get()).ok());
                return Ok(verdict.is_some_and(|verdict| verdict.refused));
            }
            Some(_) => {}
            None if must_stop() => return Ok(false),
            None => drop(channel.wait(None)?),
        }
    }
}

/// The error of a refused program; the host reports its findings instead.
pub fn refused() -> Value {
    json!({
        "kind": "CheckFailed",
        "message": "the program was not run",
        "traceback": "CheckFailed: the program was not run\n",
    })
}
