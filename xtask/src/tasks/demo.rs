//! Builds codeyard optimised, creates its environment and runs its demo, so that the printed times are the product's.

use std::fs;
use std::process::Command;
use std::time::Instant;

use anyhow::Result;

use super::{say, setup};
use crate::{layout, run};

/// Runs `codeyard demo` with further arguments.
pub fn run(arguments: &[String]) -> Result<()> {
    // apt-get and the compiler run in parallel.
    let packages = std::thread::spawn(|| setup::packages(setup::FOR_DEMO));
    setup::build_optimised()?;
    let built = Instant::now();
    packages
        .join()
        .unwrap_or_else(|_| anyhow::bail!("installing packages failed"))?;
    setup::environment_by(&layout::optimised_codeyard(), None)?;
    let out = layout::target().join("demo");
    fs::create_dir_all(&out)?;
    let mut demo = Command::new(layout::optimised_codeyard());
    demo.arg("demo")
        .arg("--data")
        .arg(layout::data())
        .arg("--out")
        .arg(out)
        .args(arguments);
    run::visible(&mut demo)?;
    say(&format!(
        "demo: {:.1} s after the build",
        built.elapsed().as_secs_f32()
    ));
    Ok(())
}
