-- Recordings of runs, encrypted. They go with the days of their runs.
CREATE TABLE recordings (
    run      TEXT   COLLATE "C" NOT NULL,
    -- Base64: the version, the key's id, the nonce, then the ciphertext.
    sealed   TEXT   NOT NULL,
    asked_ms BIGINT NOT NULL,
    PRIMARY KEY (asked_ms, run)
) PARTITION BY RANGE (asked_ms);
CREATE INDEX recordings_by_run ON recordings (run);
