//! Text for a person who starts `codeyard mcp` by hand.

use crate::cli::SurfaceChoice;

/// The other end of standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// A terminal.
    Person,
    /// The MCP client that started this process.
    Client,
}

/// `None` for an MCP client.
pub(super) fn greeting(peer: Peer, surface: SurfaceChoice) -> Option<&'static str> {
    match (peer, surface) {
        (Peer::Client, _) => None,
        (Peer::Person, SurfaceChoice::Standard) => Some(STANDARD),
        (Peer::Person, SurfaceChoice::Code | SurfaceChoice::Bridge | SurfaceChoice::Server) => Some(PROGRAMS),
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
        for surface in [
            SurfaceChoice::Code,
            SurfaceChoice::Bridge,
            SurfaceChoice::Server,
            SurfaceChoice::Standard,
        ] {
            assert_eq!(greeting(Peer::Client, surface), None);
            assert!(greeting(Peer::Person, surface).is_some_and(|text| text.contains("Ctrl-D or Ctrl-C")));
        }
    }
}
