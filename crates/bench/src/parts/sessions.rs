//! Fresh sessions to the end of their first run, against F: a clone of the same zygote without
//! namespaces and confinement.

use anyhow::Result;

use crate::figures::{Figure, Samples};
use crate::guests::{DATA, Guests, PLAIN, SETTLE};
use crate::setting::Setting;

/// What [`PLAIN`] does.
const TYPESCRIPT: &str = "console.log(1 + 1)";

pub async fn fresh(guests: &Guests, setting: &Setting) -> Result<Vec<Figure>> {
    setting.placement.for_host()?;
    let mut figures = Vec::new();
    for (name, code, most) in [("plain", PLAIN, 1.3), ("numpy and pandas", DATA, 1.25)] {
        let (mut floor, mut fresh) = (Samples::default(), Samples::default());
        for _ in 0..setting.samples {
            floor.push(guests.unconfined_session(code).await?);
            tokio::time::sleep(SETTLE).await;
            fresh.push(guests.session(code, &[]).await?);
            tokio::time::sleep(SETTLE).await;
        }
        let floor = floor.figure(&format!("F: unconfined clone, {name}"), setting.placement);
        let fresh = fresh.figure_over(&format!("fresh session, {name}"), &floor);
        figures.extend([floor, fresh.at_most_times(most)]);
    }
    figures.extend(typescript(guests, setting).await?);
    Ok(figures)
}

/// Sessions of TypeScript beside F of Python.
async fn typescript(guests: &Guests, setting: &Setting) -> Result<[Figure; 2]> {
    // The first launches the zygote.
    guests.typescript_session(TYPESCRIPT).await?;
    let (mut floor, mut fresh) = (Samples::default(), Samples::default());
    for _ in 0..setting.samples {
        floor.push(guests.unconfined_session(PLAIN).await?);
        tokio::time::sleep(SETTLE).await;
        fresh.push(guests.typescript_session(TYPESCRIPT).await?);
        tokio::time::sleep(SETTLE).await;
    }
    let floor = floor.figure("F: unconfined clone, beside TypeScript", setting.placement);
    let fresh = fresh.figure_over("fresh session, TypeScript", &floor);
    Ok([floor, fresh.at_most_times(0.5)])
}
