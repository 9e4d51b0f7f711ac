//! Tokens, users and teams over REST: what each role may do, and what nobody may take.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

mod gateway;
mod roles;
mod teams;
mod tokens;
mod users;
