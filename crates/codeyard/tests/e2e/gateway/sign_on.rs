//! Users who sign on at a real issuer: what their tokens open, what hostile tokens do not, and what a sign-out ends.

mod agents;
mod challenges;
mod ends;
mod hostile;
mod products;
pub mod signed_on;
