-- What runs cost a model in tokens (o200k), and what the same calls would have cost it.

-- What the client calls itself.
ALTER TABLE runs ADD COLUMN client TEXT;
-- Searches for tools that its model made since the run before, and the bytes that went to and fro for them.
ALTER TABLE runs ADD COLUMN searches BIGINT;
ALTER TABLE runs ADD COLUMN search_bytes BIGINT;

-- One row a run of which a receipt was taken.
CREATE TABLE receipts (
    run                TEXT   PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    -- The tools that the model sees and the instructions.
    definitions        BIGINT NOT NULL,
    written            BIGINT NOT NULL,
    read               BIGINT NOT NULL,
    searched           BIGINT NOT NULL,
    -- The definitions of all tools that it could have called.
    direct_definitions BIGINT NOT NULL,
    direct_tools       BIGINT NOT NULL
);

-- One row a tool that such a run called.
CREATE TABLE receipt_calls (
    run     TEXT   NOT NULL REFERENCES receipts (run) ON DELETE CASCADE,
    server  TEXT   NOT NULL,
    tool    TEXT   NOT NULL,
    calls   BIGINT NOT NULL,
    written BIGINT NOT NULL,
    read    BIGINT NOT NULL,
    PRIMARY KEY (run, server, tool)
);
