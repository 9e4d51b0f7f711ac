//! What a person reads who starts `codeyard mcp` by hand.

use crate::cli::Surface;

/// For a person at a terminal; a client that has started this reads nothing.
pub(super) fn of_terminal(is_terminal: bool, surface: Surface) -> Option<&'static str> {
    match (is_terminal, surface) {
        (false, _) => None,
        (true, Surface::Standard) => Some(STANDARD),
        (true, Surface::Code | Surface::Bridge) => Some(PROGRAMS),
    }
}

const PROGRAMS: &str = "\
This is an MCP server: it speaks JSON-RPC over standard input and output, and an MCP client starts it.
Through it the client's model runs programs that call the tools of your servers.

  codeyard install       lists the clients; `codeyard install CLIENT` enters codeyard into one
  codeyard mcp --help    shows the entry to write by hand
  codeyard run FILE      runs a program without a client

It waits for a client's messages now. Ctrl-D or Ctrl-C ends it.";

const STANDARD: &str = "\
This is an MCP server: it speaks JSON-RPC over standard input and output, and an MCP client starts it.
Through it the client has the tools, resources and prompts of all your servers, as they are.

  codeyard install       lists the clients; `codeyard install CLIENT` enters codeyard into one
  codeyard mcp --help    shows the entry to write by hand
  codeyard tools         lists the tools without a client

It waits for a client's messages now. Ctrl-D or Ctrl-C ends it.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_reads_nothing() {
        for surface in [Surface::Code, Surface::Bridge, Surface::Standard] {
            assert_eq!(of_terminal(false, surface), None);
            assert!(of_terminal(true, surface).is_some_and(|text| text.contains("Ctrl-D or Ctrl-C")));
        }
    }
}
