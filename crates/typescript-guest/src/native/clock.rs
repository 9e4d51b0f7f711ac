//! Times: of the session, and of time zones.

use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;
use rquickjs::{Ctx, Function, Object, Result};

use crate::shared::Shared;

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let state = Rc::clone(shared);
    native.set(
        "now",
        Function::new(ctx.clone(), move || since(state.began.get()))?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "timeOrigin",
        Function::new(ctx.clone(), move || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            now.as_secs_f64() * 1000.0 - since(state.began.get())
        })?,
    )?;
    native.set("timeZoneOffset", Function::new(ctx.clone(), offset)?)
}

/// Milliseconds.
fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
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
