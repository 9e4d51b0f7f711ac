//! Takes over the terminal for a page, and restores it.

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

/// Interval of checks whether the receiver still exists.
const PAUSE: Duration = Duration::from_millis(100);
/// Queued keys.
const KEYS: usize = 64;

/// Restores the terminal on drop.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    pub(super) fn open() -> io::Result<Screen> {
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        enable_raw_mode()?;
        // From here on, a failure drops `screen`, which restores the terminal.
        let screen = Screen { terminal };
        execute!(io::stdout(), EnterAlternateScreen)?;
        Ok(screen)
    }

    /// Draws at the terminal's present size.
    pub(super) fn draw(&mut self, page: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(page).map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Errors do not matter: the terminal may be gone.
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Keys and changes of size. The thread ends soon after the receiver is dropped; a closed terminal sends nothing.
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
