//! Identities of tokens: permissions of each role, team and scope, and limits of every token.

mod decisions;
mod granting;
mod people;
mod properties;
mod routes;
mod sign_on;
