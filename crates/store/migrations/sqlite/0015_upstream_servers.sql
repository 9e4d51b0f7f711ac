-- Upstream servers that users of the gateway define. No retention removes them.

CREATE TABLE upstream_servers (
    name        TEXT   PRIMARY KEY,
    -- The name as programs write it.
    alias       TEXT   NOT NULL UNIQUE,
    tenant      TEXT   NOT NULL,
    -- The user's address.
    owner       TEXT   NOT NULL,
    -- `public`, `team` or `private`.
    visibility  TEXT   NOT NULL,
    team        TEXT,
    -- JSON object: an entry of `mcpServers`, with its secrets as they were given.
    definition  TEXT   NOT NULL,
    created_ms  BIGINT NOT NULL,
    -- Larger after each change.
    updated_ms  BIGINT NOT NULL
);

-- How often upstream servers were changed: a process that knows another number reads them again.
CREATE TABLE upstream_changes (
    one   BIGINT PRIMARY KEY CHECK (one = 1),
    times BIGINT NOT NULL
);
INSERT INTO upstream_changes (one, times) VALUES (1, 0);
