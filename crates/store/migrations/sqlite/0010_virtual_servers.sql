-- Virtual servers of the gateway. No retention removes them.

CREATE TABLE virtual_servers (
    id          TEXT   PRIMARY KEY,
    tenant      TEXT   NOT NULL,
    -- The user's address.
    owner       TEXT   NOT NULL,
    name        TEXT   NOT NULL,
    description TEXT,
    -- `standard` or `code_execution`.
    kind        TEXT   NOT NULL,
    -- JSON array of texts.
    tags        TEXT   NOT NULL,
    -- `public`, `team` or `private`.
    visibility  TEXT   NOT NULL,
    team        TEXT,
    icon        TEXT,
    -- JSON object: the settings that only the kind `code_execution` has.
    code        TEXT,
    created_ms  BIGINT NOT NULL,
    -- Larger after each change.
    updated_ms  BIGINT NOT NULL,
    UNIQUE (tenant, name)
);
CREATE INDEX virtual_servers_of_tenant ON virtual_servers (tenant, created_ms, id);
