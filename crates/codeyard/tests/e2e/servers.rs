//! Upstream servers behind programs: misbehaving ones, their lives, and a client that misbehaves itself.

mod care;
mod lines;
mod lives;
mod misbehaving;
