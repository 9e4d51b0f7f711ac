//! Upstream servers: misbehaving ones, their lives, and a misbehaving client.

mod care;
mod lines;
mod lives;
mod misbehaving;
