//! Runs and host calls of a live session against P: the round trip of an equal frame to a warm
//! Python that echoes.

use anyhow::Result;
use tokio::time::Instant;

use crate::echo::Echo;
use crate::figures::{Figure, Samples};
use crate::guests::{Guests, PLAIN, execute};
use crate::setting::Setting;

/// Bytes of a small frame, such as `1 + 1` and its answer.
const FRAME: usize = 48;
const CALLS: u32 = 50;
/// What a run or a call may cost beyond P, in microseconds.
const BEYOND: f64 = 60.0;
const FLOOR: &str = "P: round trip to a warm Python";

pub async fn live(guests: &Guests, setting: &Setting) -> Result<Vec<Figure>> {
    let mut echo = Echo::start(&guests.python)?;
    setting.placement.for_host()?;
    let mut guest = guests.launch(PLAIN, &[]).await?;
    execute(guest.as_mut(), PLAIN).await?;
    let (mut floor, mut live) = (Samples::default(), Samples::default());
    for _ in 0..setting.samples {
        floor.push(echo.round_trip(FRAME).await?);
        let started = Instant::now();
        execute(guest.as_mut(), "1 + 1").await?;
        live.push(started.elapsed());
    }
    guest.close().await;
    echo.stop()?;
    let floor = floor.figure(FLOOR, setting.placement);
    let live = live.figure_over("run in a live session, host side", &floor);
    let live = live.at_most_over(&floor, BEYOND);
    Ok(vec![floor, live])
}

pub async fn calls(guests: &Guests, setting: &Setting) -> Result<Vec<Figure>> {
    let program = format!("for n in range({CALLS}):\n    await tools.bench.echo(n=n)");
    let mut echo = Echo::start(&guests.python)?;
    setting.placement.for_host()?;
    let mut guest = guests.launch(PLAIN, &[]).await?;
    execute(guest.as_mut(), &program).await?;
    let (mut floor, mut call) = (Samples::default(), Samples::default());
    for _ in 0..setting.samples.div_ceil(10).max(10) {
        for _ in 0..CALLS {
            floor.push(echo.round_trip(FRAME).await?);
        }
        let started = Instant::now();
        execute(guest.as_mut(), &program).await?;
        call.push(started.elapsed() / CALLS);
    }
    guest.close().await;
    echo.stop()?;
    let floor = floor.figure(FLOOR, setting.placement);
    let call = call.figure_over("host call, awaited, answered at once", &floor);
    let call = call.at_most_over(&floor, BEYOND);
    Ok(vec![floor, call])
}
