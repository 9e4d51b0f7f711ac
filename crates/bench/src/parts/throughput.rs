//! Sessions a second with two zygotes and two concurrent sessions of each.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::figures::{Figure, Samples, Unit};
use crate::guests::{DATA, Guests, PLAIN};
use crate::setting::Setting;

/// Zygotes, one for each core of the promise's machine.
const ZYGOTES: usize = 2;
/// Concurrent sessions of each zygote.
const IN_FLIGHT: usize = 2;
const SLICE: Duration = Duration::from_millis(500);
const SLICES: usize = 12;

pub async fn measure(setting: &Setting) -> Result<Vec<Figure>> {
    let mut zygotes = Vec::new();
    for _ in 0..ZYGOTES {
        let guests = Guests::without_pool(&setting.data)?;
        guests.warm(&[]).await?;
        zygotes.push(guests);
    }
    let mut figures = Vec::new();
    for (name, code, least) in [("plain", PLAIN, 500.0), ("numpy and pandas", DATA, 350.0)] {
        let mut rates = Samples::default();
        for slice in 0..=SLICES {
            let rate = rate(&zygotes, code).await?;
            // The first slice fills the pool.
            if slice > 0 {
                rates.push_number(rate);
            }
        }
        let name = format!("sessions opened, run and closed, {ZYGOTES} zygotes, {name}");
        figures.push(
            rates
                .figure_in(Unit::PerSecond, &name, setting.placement)
                .at_least(least),
        );
    }
    for guests in zygotes {
        guests.close().await;
    }
    Ok(figures)
}

async fn rate(zygotes: &[Guests], code: &str) -> Result<f64> {
    let started = Instant::now();
    let one = |guests| async move {
        let mut count = 0_u32;
        while started.elapsed() < SLICE {
            Guests::session(guests, code, &[]).await?;
            count += 1;
        }
        anyhow::Ok(count)
    };
    let all = zygotes
        .iter()
        .flat_map(|guests| std::iter::repeat_n(guests, IN_FLIGHT));
    let counts = futures_util::future::try_join_all(all.map(one)).await?;
    Ok(f64::from(counts.iter().sum::<u32>()) / started.elapsed().as_secs_f64())
}
