//! Internals of promises and proxies, for printing.

use rquickjs::promise::PromiseState;
use rquickjs::{Array, Ctx, Function, Object, Promise, Result, Value};

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("promiseState", Function::new(ctx.clone(), state)?)?;
    native.set("promiseResult", Function::new(ctx.clone(), result)?)?;
    native.set("proxyTarget", Function::new(ctx.clone(), target)?)?;
    native.set("queueMicrotask", Function::new(ctx.clone(), queue_microtask)?)
}

fn state(promise: Promise<'_>) -> &'static str {
    match promise.state() {
        PromiseState::Pending => "pending",
        PromiseState::Resolved => "fulfilled",
        PromiseState::Rejected => "rejected",
    }
}

fn result<'js>(ctx: Ctx<'js>, promise: Promise<'js>) -> Result<Value<'js>> {
    match promise.result::<Value<'js>>() {
        None => Ok(Value::new_undefined(ctx)),
        Some(Ok(value)) => Ok(value),
        Some(Err(_)) => Ok(ctx.catch()),
    }
}

/// Target and handler of a proxy; `None` for anything else.
fn target<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<Option<Array<'js>>> {
    let Some(proxy) = value.into_proxy() else {
        return Ok(None);
    };
    let pair = Array::new(ctx)?;
    pair.set(0, proxy.target()?)?;
    pair.set(1, proxy.handler()?)?;
    Ok(Some(pair))
}

/// Calls the function after the current job, before any timer.
fn queue_microtask<'js>(job: Function<'js>) -> Result<()> {
    job.defer(())
}
