//! The store over a file of SQLite, a Postgres server, and a server behind a pooler.

mod accounts;
mod attempts;
mod audit;
mod cpu_debts;
mod logins;
mod places;
mod rate_windows;
mod records;
mod saved;
mod server_records;
mod servers;
mod session_leases;
mod sign_ons;
mod sinks;
mod transfer;
mod upstream_servers;
mod virtual_servers;
