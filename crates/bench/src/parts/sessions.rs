//! Fresh sessions to the end of their first run, against F: a clone of the same zygote without
//! namespaces and confinement.

use anyhow::Result;
use types::Language;

use crate::figures::{Figure, Samples};
use crate::guests::{DATA, Guests, PLAIN, SETTLE};
use crate::setting::Setting;

/// Another language than Python, with a program that does what [`PLAIN`] does.
#[derive(Clone, Copy)]
struct Other {
    name: &'static str,
    language: Language,
    code: &'static str,
    /// Most multiples of F.
    most: f64,
}

const TYPESCRIPT: Other = Other {
    name: "TypeScript",
    language: Language::TypeScript,
    code: "console.log(1 + 1)",
    most: 0.5,
};
const SHELL: Other = Other {
    name: "shell",
    language: Language::Shell,
    code: "echo $((1 + 1))",
    most: 0.7,
};

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
    figures.extend(beside(guests, setting, TYPESCRIPT).await?);
    figures.extend(beside(guests, setting, SHELL).await?);
    Ok(figures)
}

/// Sessions of another language beside F of Python.
async fn beside(guests: &Guests, setting: &Setting, other: Other) -> Result<[Figure; 2]> {
    let Other {
        name,
        language,
        code,
        most,
    } = other;
    // The first launches the zygote.
    guests.session_of(language, code).await?;
    let (mut floor, mut fresh) = (Samples::default(), Samples::default());
    for _ in 0..setting.samples {
        floor.push(guests.unconfined_session(PLAIN).await?);
        tokio::time::sleep(SETTLE).await;
        fresh.push(guests.session_of(language, code).await?);
        tokio::time::sleep(SETTLE).await;
    }
    let floor = floor.figure(&format!("F: unconfined clone, beside {name}"), setting.placement);
    let fresh = fresh.figure_over(&format!("fresh session, {name}"), &floor);
    Ok([floor, fresh.at_most_times(most)])
}
