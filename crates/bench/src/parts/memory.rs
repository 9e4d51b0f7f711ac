//! Memory of idle sessions: the charge of their control groups, and the growth of all processes.

use anyhow::{Result, ensure};

use crate::figures::{Figure, Samples, Unit};
use crate::guests::{DATA, Guests, PLAIN, execute};
use crate::processes;
use crate::setting::Setting;

const SESSIONS: u32 = 50;
/// Bytes that an idle session may be charged.
const MOST: f64 = 2e6;

pub async fn measure(setting: &Setting) -> Result<Vec<Figure>> {
    let guests = Guests::without_pool(&setting.data)?;
    guests.warm(&[]).await?;
    let mut figures = Vec::new();
    for (name, code) in [("plain", PLAIN), ("numpy and pandas", DATA)] {
        figures.extend(profile(&guests, setting, name, code).await?);
    }
    guests.close().await;
    Ok(figures)
}

async fn profile(guests: &Guests, setting: &Setting, name: &str, code: &str) -> Result<Vec<Figure>> {
    let own = std::process::id();
    let before = processes::proportional_memory(own);
    let mut open = Vec::new();
    for _ in 0..SESSIONS {
        let mut guest = guests.launch(code, &[]).await?;
        execute(guest.as_mut(), code).await?;
        open.push(guest);
    }
    let after = processes::proportional_memory(own);
    let mut charged = Samples::default();
    for bytes in processes::charged_to_sessions(own) {
        charged.push_number(bytes);
    }
    let mut share = Samples::default();
    share.push_number((after - before) / f64::from(SESSIONS));
    for guest in open {
        guest.close().await;
    }
    let share = share.figure_in(
        Unit::Bytes,
        &format!("idle session, {name}: growth of all processes, shared pages once"),
        setting.placement,
    );
    if charged.is_empty() {
        return Ok(vec![share.at_most(MOST)]);
    }
    let charged = charged.figure_in(
        Unit::Bytes,
        &format!("idle session, {name}: charged to its control group"),
        setting.placement,
    );
    ensure!(
        charged.samples >= 50,
        "only {} sessions have a group",
        charged.samples
    );
    Ok(vec![charged.at_most(MOST), share])
}
