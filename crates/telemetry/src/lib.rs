//! Starts tracing: log lines on standard error only.
//!
//! Standard output is for protocols and results. The MCP library logs whole messages, which
//! contain programs, so its level is `error` unless the filter names the library.

mod filter;

use std::io::IsTerminal;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{FormatFields, debug_fn};
use tracing_subscriber::prelude::*;
use types::spelled_out;

pub use filter::FilterError;

/// Configuration of logging.
#[derive(Debug, Clone, Default)]
pub struct TelemetryConfig {
    /// A level (`off`, `error`, `warn`, `info`, `debug`, `trace`) or a list such as `info,upstream=debug`;
    /// the default is `warn`.
    pub filter: Option<String>,
    /// Whether lines may have colours.
    pub color: Color,
}

/// Colours of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Color {
    /// Colours if standard error is a terminal.
    #[default]
    Auto,
    /// No colours, as `NO_COLOR` requests.
    Never,
}

/// A failure to start logging.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter is invalid.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Another part of the process has already started logging.
    #[error("logging is already started")]
    AlreadyStarted,
}

/// Starts logging for the whole process.
pub fn start(config: &TelemetryConfig) -> Result<(), TelemetryError> {
    let filter = filter::parse(config.filter.as_deref())?;
    let color = match std::io::stderr().is_terminal() {
        true => config.color,
        false => Color::Never,
    };
    tracing::subscriber::set_global_default(subscriber(filter, std::io::stderr, color))
        .map_err(|_| TelemetryError::AlreadyStarted)
}

/// Checks a filter without starting to log, for commands that only read settings.
pub fn check(filter: &str) -> Result<(), FilterError> {
    filter::parse(Some(filter)).map(drop)
}

fn subscriber<W>(filter: Targets, writer: W, color: Color) -> impl tracing::Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .fmt_fields(fields())
        .with_ansi(color == Color::Auto)
        // Reporting a failed write to standard error on standard error would panic.
        .log_internal_errors(false);
    tracing_subscriber::registry().with(lines).with(filter)
}

/// Escapes characters that move the cursor, end a line or are invisible, because servers and files choose much of the
/// text.
fn fields() -> impl for<'writer> FormatFields<'writer> {
    let fields = debug_fn(|writer, field, value| {
        let value = spelled_out(&format!("{value:?}"));
        match field.name() {
            "message" => write!(writer, "{value}"),
            name if writer.has_ansi_escapes() => write!(writer, "\x1b[3m{name}\x1b[0m\x1b[2m=\x1b[0m{value}"),
            name => write!(writer, "{name}={value}"),
        }
    });
    fields.delimited(" ")
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn written(filter: Option<&str>, log: impl FnOnce()) -> String {
        let buffer = Buffer::default();
        let sink = buffer.clone();
        let subscriber = subscriber(filter::parse(filter).unwrap(), move || sink.clone(), Color::Never);
        tracing::subscriber::with_default(subscriber, log);
        let bytes = buffer.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    /// Logs a line of each kind and returns the lines that arrived.
    fn logged(filter: Option<&str>) -> String {
        let text = written(filter, || {
            tracing::error!("own-error");
            tracing::warn!("own-warn");
            tracing::info!("own-info");
            tracing::debug!("own-debug");
            tracing::error!(target: "rmcp::service", "library-error");
            tracing::warn!(target: "rmcp::service", "library-warn");
            tracing::debug!(target: "rmcp::service", "library-debug");
        });
        assert!(!text.contains('\x1b'), "no colours: {text}");
        let mut words: Vec<&str> = text
            .lines()
            .map(|line| line.rsplit(' ').next().unwrap())
            .collect();
        words.sort_unstable();
        words.join(" ")
    }

    #[test]
    fn levels() {
        assert_eq!(logged(None), "library-error own-error own-warn");
        assert_eq!(logged(Some("error")), "library-error own-error");
        assert_eq!(logged(Some("off")), "");
    }

    #[test]
    fn the_protocol_library_prints_messages_only_when_named() {
        assert_eq!(
            logged(Some("debug")),
            "library-error own-debug own-error own-info own-warn"
        );
        assert_eq!(
            logged(Some("error,rmcp=debug")),
            "library-debug library-error library-warn own-error"
        );
    }

    #[test]
    fn a_server_s_name_cannot_break_a_line() {
        let text = written(None, || {
            tracing::warn!(server = %"h\u{202e}x\n WARN y\x1b[2J", tries = 2, "tool `d\u{61c}\u{9b}p` is listed\r");
        });
        let shown = "tool `d\\u{61c}\\u{9b}p` is listed\\r server=h\\u{202e}x\\n WARN y\\u{1b}[2J tries=2\n";
        assert!(text.ends_with(shown) && text.lines().count() == 1, "{text:?}");
    }
}
