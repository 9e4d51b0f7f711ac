//! Scans that take too long.

use std::fs;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tracing_subscriber::fmt::MakeWriter;

use super::*;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

#[tokio::test]
async fn a_slow_scan_is_reported_once_and_delays_no_caller() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).finish();
    let _logged = tracing::subscriber::set_default(subscriber);
    let directory = tempfile::tempdir().expect("a directory");
    let server = directory.path().join("servers/a");
    fs::create_dir_all(&server).expect("a directory");
    fs::write(server.join("one.py"), "def one(): 'One'").expect("a file");
    let local = Local::new(Scanner::new(vec![directory.path().to_path_buf()]));
    let (_servers, receiver) = watch::channel(Arc::default());
    let lists = local.beside(receiver);

    // A scan is running and does not finish.
    let slow = local.scanner.clone().expect("a scanner").lock_owned().await;
    let begun = Instant::now();
    assert!(!local.look(&lists).await);
    assert!(begun.elapsed() >= PATIENCE);
    let begun = Instant::now();
    for _ in 0..20 {
        assert!(!local.look(&lists).await);
    }
    assert!(begun.elapsed() < PATIENCE, "the others do not wait");
    let told = log.text();
    assert_eq!(told.matches("could not be read").count(), 1, "{told}");
    assert!(told.contains(&directory.path().display().to_string()), "{told}");

    // When it ends, its result counts although no caller waits.
    assert!(look(slow, &local.found, &local.told, &lists));
    assert!(lists.file(&ToolRef::new("a", "one")).is_some());
    assert!(!local.look(&lists).await, "nothing has changed since");
    fs::write(server.join("two.py"), "def two(): 'Two'").expect("a file");
    assert!(local.look(&lists).await);
}
