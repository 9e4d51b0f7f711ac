//! When codeyard, its zygote, a guest or a client ends, all its processes end too, and the next start works.

mod guests;
mod machine;
mod races;
mod runs;
mod signals;
mod trees;
