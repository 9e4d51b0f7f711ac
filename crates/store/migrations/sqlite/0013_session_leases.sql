-- Processes that serve this database together. Each renews its row; one that ended or hangs loses its leases.
CREATE TABLE gateway_processes (
    id         TEXT   PRIMARY KEY,
    -- Where the other processes reach it.
    url        TEXT   NOT NULL,
    expires_ms BIGINT NOT NULL
);

-- Which process runs the sessions of a user at a virtual server.
CREATE TABLE session_leases (
    server    TEXT NOT NULL,
    principal TEXT NOT NULL,
    process   TEXT NOT NULL,
    PRIMARY KEY (server, principal)
);
CREATE INDEX session_leases_of_process ON session_leases (process);

-- The sessions that such a process has opened: whoever takes a lease over reports their variables as lost.
CREATE TABLE leased_sessions (
    server    TEXT NOT NULL,
    principal TEXT NOT NULL,
    language  TEXT NOT NULL,
    name      TEXT NOT NULL,
    PRIMARY KEY (server, principal, language, name)
);
