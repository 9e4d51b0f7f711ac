//! A session: receives programs from the host and runs them one after another.

use std::io;

use guest::frames::VERSION;
use serde_json::json;

use crate::channel::{Channel, Frame, Limits, Open, RunFrame, SessionLimits};

/// An engine that runs the programs of one session.
pub trait SessionEngine {
    /// Name and version of the engine.
    fn interpreter(&self) -> &str;

    /// Called when the process becomes a session, perhaps before it has an owner. Starts slow preparations.
    ///
    /// # Errors
    /// If the engine cannot run programs.
    fn begin(&mut self, _channel: &Channel) -> io::Result<()> {
        Ok(())
    }

    /// Does the first program's preparations in advance.
    ///
    /// # Errors
    /// If the engine cannot run programs.
    fn warm(&mut self, channel: &Channel) -> io::Result<()>;

    /// Called when the session has an owner and its files are attached. Enters the workspace.
    ///
    /// # Errors
    /// If the engine cannot run programs.
    fn open(&mut self, channel: &Channel) -> io::Result<()>;

    /// Runs a program and returns the frame that reports its end.
    ///
    /// # Errors
    /// If the host or the engine is gone.
    fn run(&mut self, channel: &Channel, frame: &RunFrame, limits: Limits) -> io::Result<Vec<u8>>;
}

/// Serves the session until the host closes it.
///
/// # Errors
/// If the host is gone, or uses another version of the frames.
pub fn serve(engine: &mut dyn SessionEngine, channel: &Channel) -> io::Result<()> {
    jail::own_zygote::catch_interrupts()?;
    engine.begin(channel)?;
    send(
        channel,
        &json!({"t": "ready", "v": VERSION, "interpreter": engine.interpreter()}),
    )?;
    let mut settings = None;
    loop {
        let Some(frame) = channel.next()? else {
            channel.wait(None)?;
            continue;
        };
        match (frame, settings) {
            (Frame::Warm, None) => {
                engine.warm(channel)?;
                send(channel, &json!({"t": "warmed"}))?;
            }
            (Frame::Open(Open { v: VERSION, session }), None) => {
                engine.open(channel)?;
                settings = Some(session);
            }
            (Frame::Run(frame), Some(SessionLimits { limits })) => {
                let done = engine.run(channel, &frame, frame.limits.unwrap_or(limits))?;
                channel.push(&done);
                channel.flush()?;
            }
            // A late answer to a call of an earlier run.
            (Frame::Reply(_), _) => {}
            (frame, _) => return Err(io::Error::other(format!("a frame out of turn: {frame:?}"))),
        }
    }
}

fn send(channel: &Channel, frame: &serde_json::Value) -> io::Result<()> {
    channel.push(&serde_json::to_vec(frame)?);
    channel.flush()
}
