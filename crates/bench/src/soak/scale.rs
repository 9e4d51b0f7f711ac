//! The number of sessions, runs and kills of a soak.

#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Sessions opened and closed.
    pub sessions: u32,
    /// Concurrent idle sessions.
    pub idle: u32,
    /// Mixed runs of all clients together.
    pub runs: u32,
    /// Each client has its own program.
    pub clients: u32,
    pub kills: u32,
}

impl Scale {
    pub const WHOLE: Scale = Scale {
        sessions: 1000,
        idle: 1000,
        runs: 20_000,
        clients: 8,
        kills: 100,
    };
    pub const SHORT: Scale = Scale {
        sessions: 200,
        idle: 100,
        runs: 2000,
        clients: 8,
        kills: 10,
    };
}
