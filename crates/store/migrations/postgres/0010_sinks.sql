-- Where records are sent to. The records of each process have numbers without gaps, in the order of their commits: a
-- sink that has sent number N misses nothing before it. Nothing is numbered while there is no sink.
ALTER TABLE processes ADD COLUMN records BIGINT NOT NULL DEFAULT 0;

-- The process that wrote the record, and its number among the process's records. A run has them once it is over.
ALTER TABLE runs ADD COLUMN writer BIGINT;
ALTER TABLE runs ADD COLUMN number BIGINT;
ALTER TABLE calls ADD COLUMN writer BIGINT;
ALTER TABLE calls ADD COLUMN number BIGINT;
ALTER TABLE events ADD COLUMN writer BIGINT;
ALTER TABLE events ADD COLUMN number BIGINT;
CREATE INDEX runs_by_number ON runs (writer, number) WHERE number IS NOT NULL;
CREATE INDEX calls_by_number ON calls (writer, number) WHERE number IS NOT NULL;
CREATE INDEX events_by_number ON events (writer, number) WHERE number IS NOT NULL;

CREATE TABLE sinks (
    name     TEXT   COLLATE "C" PRIMARY KEY,
    -- The process that sends, and until when, by the clock of this database.
    holder   TEXT   NOT NULL,
    until_ms BIGINT NOT NULL,
    -- The newest row of the audit table that was sent.
    audit    BIGINT NOT NULL
);

-- The newest record of each process that was sent; 0 without a row.
CREATE TABLE sink_positions (
    sink    TEXT   COLLATE "C" NOT NULL REFERENCES sinks (name) ON DELETE CASCADE,
    process BIGINT NOT NULL,
    number  BIGINT NOT NULL,
    PRIMARY KEY (sink, process)
);
