-- Administrative changes and refused attempts at them, chained by hash. No retention removes them.
CREATE TABLE audit (
    -- 1 for the first row, without gaps.
    sequence  INTEGER PRIMARY KEY,
    at_ms     BIGINT NOT NULL,
    tenant    TEXT   NOT NULL,
    -- The user's address, or `command-line`.
    actor     TEXT   NOT NULL,
    -- Id of the user's token; empty for the command line.
    token     TEXT   NOT NULL,
    action    TEXT   NOT NULL,
    object    TEXT   NOT NULL,
    object_id TEXT   NOT NULL,
    -- `done`, a status of HTTP, or `refused` by the command line.
    outcome   TEXT   NOT NULL,
    detail    TEXT   NOT NULL,
    -- Hash of the row before, in hexadecimal digits; 64 zeros in the first row.
    previous  TEXT   NOT NULL,
    -- SHA-256 over all other columns, in hexadecimal digits.
    hash      TEXT   NOT NULL
);
CREATE INDEX audit_of_tenant ON audit (tenant, sequence);
CREATE INDEX audit_of_actor ON audit (tenant, actor, sequence);

-- The newest row. Whoever appends a row changes this one first, so that processes append one after another.
CREATE TABLE audit_head (
    one      BIGINT PRIMARY KEY CHECK (one = 1),
    sequence BIGINT NOT NULL,
    hash     TEXT   NOT NULL
);
