//! The terminal as a page of its own, given back as it was.

use std::io::{self, Stdout};
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};
use tokio::sync::mpsc;

/// Between two looks whether anybody still waits for keys.
const PAUSE: Duration = Duration::from_millis(100);
/// Keys that wait to be read.
const KEYS: usize = 64;

/// The terminal; its end gives it back.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal over.
    pub(super) fn open() -> io::Result<Screen> {
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        enable_raw_mode()?;
        // From here on whatever fails gives it back.
        let screen = Screen { terminal };
        execute!(io::stdout(), EnterAlternateScreen)?;
        Ok(screen)
    }

    /// Draws the page at the size that the terminal has now.
    pub(super) fn draw(&mut self, page: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(page).map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Keys, and changes of the terminal's size, from a thread that ends soon after nobody waits for them any more; none come when
/// the terminal is gone.
pub(super) fn events() -> mpsc::Receiver<Event> {
    let (told, events) = mpsc::channel(KEYS);
    std::thread::spawn(move || {
        while !told.is_closed() {
            let event = match event::poll(PAUSE) {
                Ok(true) => event::read(),
                Ok(false) => continue,
                Err(error) => Err(error),
            };
            if !event.is_ok_and(|event| told.blocking_send(event).is_ok()) {
                return;
            }
        }
    });
    events
}
