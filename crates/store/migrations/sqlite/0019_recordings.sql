-- Recordings of runs, encrypted. A recording is removed with its run.
CREATE TABLE recordings (
    run      TEXT   PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    -- Base64: the version, the key's id, the nonce, then the ciphertext.
    sealed   TEXT   NOT NULL,
    -- When its run was asked for.
    asked_ms BIGINT NOT NULL
);
CREATE INDEX recordings_by_time ON recordings (asked_ms);
