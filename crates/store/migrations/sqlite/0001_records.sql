-- What ran. Times are UTC milliseconds of the wall clock, durations microseconds of a monotonic one, sizes bytes.

-- One row a codeyard process; its identity tells whether what it left open is still under way.
CREATE TABLE processes (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    pid           BIGINT NOT NULL,
    pid_namespace TEXT   NOT NULL,
    -- Clock ticks since the start of the machine, and which start that was.
    started_ticks BIGINT NOT NULL,
    boot          TEXT   NOT NULL,
    version       TEXT   NOT NULL,
    begun_ms      BIGINT NOT NULL,
    ended_ms      BIGINT,
    -- `closed` or `interrupted`.
    ending        TEXT
);

-- One row a life of a session: from its guest's start to its end.
CREATE TABLE sessions (
    process    BIGINT NOT NULL REFERENCES processes (id) ON DELETE CASCADE,
    life       BIGINT NOT NULL,
    name       TEXT   NOT NULL,
    principal  TEXT   NOT NULL,
    language   TEXT   NOT NULL,
    backend    TEXT   NOT NULL,
    mode       TEXT,
    -- The run that opened it.
    opened_by  TEXT   NOT NULL,
    opened_ms  BIGINT NOT NULL,
    ended_ms   BIGINT,
    -- `closed`, or why it was lost.
    ending     TEXT,
    PRIMARY KEY (process, life)
);

-- One row an attempt to run a program, and one a call made from the command line.
CREATE TABLE runs (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT   NOT NULL UNIQUE,
    process      BIGINT NOT NULL REFERENCES processes (id),
    principal    TEXT   NOT NULL,
    -- `mcp`, `run` or `call`.
    front        TEXT   NOT NULL,
    session      TEXT,
    life         BIGINT,
    language     TEXT,
    code_hash    TEXT,
    code_bytes   BIGINT,
    -- As JSON, by their names in settings.
    limits       TEXT,
    backend      TEXT   NOT NULL,
    mode         TEXT,
    asked_ms     BIGINT NOT NULL,
    ended_ms     BIGINT,
    -- In the session's queue and while a guest was started.
    waited_us    BIGINT,
    duration_us  BIGINT,
    -- Absent while the run is under way.
    status       TEXT,
    limit_name   TEXT,
    error_kind   TEXT,
    session_fate TEXT,
    result_bytes BIGINT,
    stdout_bytes BIGINT,
    stderr_bytes BIGINT,
    host_calls   BIGINT,
    cpu_us       BIGINT,
    peak_memory  BIGINT
);
CREATE INDEX runs_of_process ON runs (process);

-- One row a call of a tool.
CREATE TABLE calls (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    run            TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    server         TEXT   NOT NULL,
    tool           TEXT   NOT NULL,
    -- Names of fields with the types of their values.
    shape          TEXT   NOT NULL,
    arguments_hash TEXT   NOT NULL,
    arguments_bytes BIGINT NOT NULL,
    -- Only where `record` has "full".
    arguments      TEXT,
    begun_ms       BIGINT NOT NULL,
    duration_us    BIGINT NOT NULL,
    -- `answered`, `tool_error`, or the kind of the failure.
    outcome        TEXT   NOT NULL,
    result_bytes   BIGINT
);
CREATE INDEX calls_of_run ON calls (run);

-- What an operator wants to know of: refusals, limits, losses.
CREATE TABLE events (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    process BIGINT NOT NULL REFERENCES processes (id) ON DELETE CASCADE,
    run     TEXT REFERENCES runs (id) ON DELETE CASCADE,
    at_ms   BIGINT NOT NULL,
    kind    TEXT   NOT NULL,
    detail  TEXT   NOT NULL
);
CREATE INDEX events_of_run ON events (run);
CREATE INDEX events_of_process ON events (process);
