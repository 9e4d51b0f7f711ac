//! Times: of the session, and of time zones.

use std::rc::Rc;

use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;
use rquickjs::{Ctx, Function, Object, Result};

use crate::shared::{Shared, wall_clock};

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let state = Rc::clone(shared);
    native.set(
        "now",
        Function::new(ctx.clone(), move || performance_now(&state))?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "timeOrigin",
        Function::new(ctx.clone(), move || {
            let now = state.inputs.borrow_mut().wall.read(wall_clock());
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of today are exact")]
            let now = now as f64;
            now - performance_now(&state)
        })?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "wallClock",
        Function::new(ctx.clone(), move || {
            state.inputs.borrow_mut().wall.read(wall_clock())
        })?,
    )?;
    native.set("timeZoneOffset", Function::new(ctx.clone(), offset)?)
}

/// Milliseconds since the session began.
fn performance_now(shared: &Shared) -> f64 {
    const NANOSECONDS: f64 = 1_000_000.0;
    let passed = i64::try_from(shared.began.get().elapsed().as_nanos()).unwrap_or(i64::MAX);
    #[expect(
        clippy::cast_precision_loss,
        reason = "nanoseconds of a session are exact enough"
    )]
    let passed = shared.inputs.borrow_mut().fine.read(passed) as f64;
    passed / NANOSECONDS
}

/// Minutes that a zone is ahead of UTC at a time; `None` for an unknown zone.
fn offset(zone: String, epoch_milliseconds: f64) -> Option<f64> {
    // Use the bundled zones, whatever other crates ask of the library: a machine's may be older, or missing.
    let zone = TimeZoneDatabase::bundled().get(&zone).ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "times of programs fit, others are at the edge"
    )]
    let at = Timestamp::from_millisecond(epoch_milliseconds as i64).ok()?;
    Some(f64::from(zone.to_offset(at).seconds()) / 60.0)
}
