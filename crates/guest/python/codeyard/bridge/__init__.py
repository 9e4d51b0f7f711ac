"""What the surface `bridge` adds to a session: servers loaded for a run, and what is kept for later sessions."""
