-- What programs of the bridge keep from one session to the next. No retention removes it, and no program of another
-- principal can name it.

-- One row a function.
CREATE TABLE saved_tools (
    -- A later save of the name keeps the place of the first.
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    principal TEXT   NOT NULL,
    name      TEXT   NOT NULL,
    bytes     BIGINT NOT NULL,
    sha256    TEXT   NOT NULL,
    saved_ms  BIGINT NOT NULL,
    -- The run that saved it last; absent if no run did.
    run       TEXT,
    source    TEXT   NOT NULL,
    UNIQUE (principal, name)
);
CREATE INDEX sizes_of_saved_tools ON saved_tools (principal, bytes);

-- One row a value that a program gave a key.
CREATE TABLE memories (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    principal  TEXT   NOT NULL,
    key        TEXT   NOT NULL,
    -- Another one after each save, also after one of a key that was deleted in between.
    version    BIGINT NOT NULL,
    -- Of value and metadata together.
    bytes      BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    -- The run that saved it last; absent if no run did.
    run        TEXT,
    -- A JSON object.
    metadata   TEXT   NOT NULL,
    -- JSON.
    value      TEXT   NOT NULL,
    UNIQUE (principal, key)
);
CREATE INDEX sizes_of_memories ON memories (principal, bytes);

-- The newest version that a memory of the principal has had.
CREATE TABLE memory_versions (
    principal TEXT   PRIMARY KEY,
    newest    BIGINT NOT NULL
);
