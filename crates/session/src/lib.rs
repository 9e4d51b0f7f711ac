//! The life of sessions.
//!
//! Each has a driver task, which runs programs one after another in one guest.
//!
//! ```text
//!              run                  guest there         kept
//!  (absent) ────────► Opening ───────────────► Running ─────► Idle
//!                      ▲   │ no guest              │  ▲──run───┘ │
//!                      │   ▼                       │ lost        │ died
//!                 run  └── Lost ◄──────────────────┴─────────────┘
//!
//!  Opening, Idle, Lost ── idle for long, room or memory needed ──► Closed        any ── close ──► Closed
//! ```
//!
//! A Lost or Closed session starts with a new guest at the next run of its name. The result of this run reports the
//! loss of variables with the reason. `table` decides, `driver` acts.

mod check;
mod cpu_meter;
mod driver;
mod files;
mod names;
mod quota;
mod request;
mod sessions;
mod table;

pub use check::{Check, NoCheck};
pub use cpu_meter::{CpuMeter, CpuTimes, thread_time};
pub use files::{Allowance, Files, NoFiles, SessionDirectories, SharedTree, Unlinked};
pub use names::{BadName, default_name, mint_own_session, mint_run, session_name};
pub use quota::SessionQuota;
pub use request::{RunRequest, RunResult, SessionError};
pub use sessions::{Figures, IdleSession, OpenSession, Sessions, SessionsConfig};
