//! `codeyard top`: one live page about all codeyards of this data directory.

mod page;
mod screen;
mod snapshot;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io::IsTerminal as _;

use crate::cli::TopArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use screen::Screen;
use snapshot::Observer;

/// Shows the page until a key ends it; without a terminal, prints it once as text.
pub async fn run(context: &Context, arguments: &TopArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let mut observer = Observer::new(loaded.data_dir.clone(), loaded.records());
    if arguments.json {
        context.output.json(&observer.look().await.json())?;
        return Ok(Exit::Done);
    }
    if arguments.once || !std::io::stdout().is_terminal() {
        context.output.print(&page::text(&observer.look().await))?;
        return Ok(Exit::Done);
    }
    live(observer).await
}

/// Restores the terminal on every return.
async fn live(observer: Observer) -> anyhow::Result<Exit> {
    let interrupt = Interrupt::watch()?;
    let broken = |error| Failure::new(Exit::Broken, format!("the terminal cannot be used: {error}"));
    let mut screen = Screen::open().map_err(broken)?;
    let mut events = screen::events();
    let mut snapshots = observer.watch();
    loop {
        let snapshot = snapshots.borrow_and_update().clone();
        screen
            .draw(|frame| page::draw(frame, snapshot.as_ref()))
            .map_err(broken)?;
        tokio::select! {
            () = interrupt.token.cancelled() => return Ok(interrupt.exit(Exit::Done)),
            event = events.recv() => match event {
                Some(event) if leaves(&event) => return Ok(Exit::Done),
                Some(_) => {}
                None => return Err(broken(std::io::ErrorKind::UnexpectedEof.into()).into()),
            },
            Ok(()) = snapshots.changed() => {}
        }
    }
}

/// `q`, Escape, or Ctrl-C, which raises no signal in raw mode.
fn leaves(event: &Event) -> bool {
    let Event::Key(KeyEvent {
        code,
        modifiers,
        kind: KeyEventKind::Press,
        ..
    }) = event
    else {
        return false;
    };
    let is_held = modifiers.contains(KeyModifiers::CONTROL);
    matches!(
        (code, is_held),
        (KeyCode::Char('q') | KeyCode::Esc, false) | (KeyCode::Char('c'), true)
    )
}
