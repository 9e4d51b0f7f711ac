//! However codeyard, its zygote, a guest or a client ends, all that hangs below ends with it, and the next start works.

mod guests;
mod machine;
mod races;
mod runs;
mod signals;
mod trees;
