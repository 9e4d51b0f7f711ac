-- What was observed of the results of tools without an output schema: types and names of keys, never values.

-- One row a definition of a tool, for each principal.
CREATE TABLE learned (
    -- Whose calls were observed; empty where principals share what is learned.
    principal  TEXT   NOT NULL,
    server     TEXT   NOT NULL,
    tool       TEXT   NOT NULL,
    -- SHA-256 of the tool's definition: another definition starts anew.
    definition TEXT   NOT NULL,
    -- JSON Schema of the results.
    shape      TEXT   NOT NULL,
    calls      BIGINT NOT NULL,
    -- Calls since the shape changed last.
    steady     BIGINT NOT NULL,
    first_ms   BIGINT NOT NULL,
    last_ms    BIGINT NOT NULL,
    PRIMARY KEY (principal, server, tool, definition)
);

-- How often something was forgotten: a process that knows another number drops what it has not written yet.
CREATE TABLE forgotten (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    times BIGINT  NOT NULL
);
INSERT INTO forgotten (one, times) VALUES (1, 0);
