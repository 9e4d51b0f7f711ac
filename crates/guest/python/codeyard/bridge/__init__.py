"""The surface `bridge` in a session: servers loaded for a run, and storage for later sessions."""
