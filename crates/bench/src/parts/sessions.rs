//! Fresh sessions to the end of their first run, against F: a clone of the same zygote without
//! namespaces and confinement.

use anyhow::Result;

use crate::figures::{Figure, Samples};
use crate::guests::{DATA, Guests, PLAIN, SETTLE};
use crate::setting::Setting;

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
    Ok(figures)
}
