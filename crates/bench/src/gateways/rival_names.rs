//! The names of what every other gateway is compared with.

pub const CODEYARD: &str = "codeyard serve";
/// The upstream server without any gateway.
pub const DIRECT: &str = "the upstream itself";
