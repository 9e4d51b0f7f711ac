//! The machine's functions below the platform: the module `codeyard:native`.

mod clock;
mod descriptors;
mod digests;
mod files;
mod machine;
mod promises;
pub mod python_literal;
mod system_error;
mod text;
mod urls;

use std::rc::Rc;
use std::time::Duration;

use rquickjs::{Ctx, Exception, Function, Object, Result};

use crate::json::{MAX_DEPTH, depth, well_formed};
use crate::shared::Shared;

/// Makes the object with all functions.
pub fn object<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    urls::define(ctx, &native)?;
    text::define(ctx, &native)?;
    digests::define(ctx, &native, shared)?;
    promises::define(ctx, &native)?;
    python_literal::define(ctx, &native)?;
    clock::define(ctx, &native, shared)?;
    machine::define(ctx, &native, shared)?;
    let own_files = Object::new(ctx.clone())?;
    files::define(ctx, &own_files, shared)?;
    descriptors::define(ctx, &own_files, shared)?;
    native.set("fs", own_files)?;
    of_the_run(ctx, &native, shared)?;
    Ok(native)
}

/// Functions of the current run: calls, timers, output, its end.
fn of_the_run<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let state = Rc::clone(shared);
    native.set(
        "call",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, id: u64, name: String, args: String| -> Result<()> {
                if depth(&args) > MAX_DEPTH {
                    let message = "the arguments are nested too deeply: 100 levels are the most";
                    return Err(Exception::throw_type(&ctx, message));
                }
                let name = serde_json::Value::from(name);
                let args = well_formed(args);
                let body = format!(r#"{{"t":"call","id":{id},"name":{name},"args":{args}}}"#);
                state.calls.borrow_mut().waiting.push_back(body.into_bytes());
                Ok(())
            },
        )?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "setTimer",
        Function::new(ctx.clone(), move |id: u64, milliseconds: f64| {
            let after = Duration::try_from_secs_f64(milliseconds.max(0.0) / 1000.0).unwrap_or(Duration::MAX);
            // A month is effectively forever, and never overflows when added to a time.
            state
                .timers
                .borrow_mut()
                .set(id, after.min(Duration::from_secs(31 * 86_400)));
        })?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "clearTimer",
        Function::new(ctx.clone(), move |id: u64| state.timers.borrow_mut().clear(id))?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "write",
        Function::new(ctx.clone(), move |stream: u32, text: String| {
            state.output.borrow_mut().write(stream, text.as_bytes());
        })?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "noteAfterJobs",
        Function::new(ctx.clone(), move || state.after_jobs.set(true))?,
    )?;
    let state = Rc::clone(shared);
    native.set("uniform", Function::new(ctx.clone(), move || state.random())?)?;
    let state = Rc::clone(shared);
    native.set(
        "exit",
        Function::new(ctx.clone(), move |code: i32| {
            state.exit.set(Some(u8::try_from(code & 0xff).unwrap_or(1)));
        })?,
    )?;
    native.set("reserve", Function::new(ctx.clone(), reserve)?)
}

/// Checks whether this many bytes are available; the system may still refuse them later.
///
/// # Errors
/// The engine's out-of-memory error.
fn reserve(ctx: Ctx<'_>, bytes: f64) -> Result<()> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "too large a number is refused"
    )]
    let wanted = bytes as usize;
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(wanted)
        .map_err(|_| Exception::throw_internal(&ctx, "out of memory"))
}
