//! Identities of tokens: what each role, team and scope may do, and what no token may ever gain.

mod decisions;
mod granting;
mod people;
mod properties;
mod routes;
