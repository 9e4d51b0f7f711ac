"""What the surface `bridge` adds to a session: servers loaded for a run, and storage for later sessions."""
