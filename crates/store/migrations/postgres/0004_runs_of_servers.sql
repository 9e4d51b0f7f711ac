-- The virtual server of the gateway that a run, a call and an event belong to; absent for everything else.
ALTER TABLE runs ADD COLUMN virtual_server TEXT;
ALTER TABLE calls ADD COLUMN virtual_server TEXT;
ALTER TABLE events ADD COLUMN virtual_server TEXT;

-- The last three columns are tested without reading the row.
CREATE INDEX runs_of_server ON runs (virtual_server, asked_ms, id, principal, status, language)
    WHERE virtual_server IS NOT NULL;
CREATE INDEX calls_of_tool ON calls (virtual_server, server, tool, run) WHERE virtual_server IS NOT NULL;
-- Security events: the conditions are those of the queries.
CREATE INDEX failed_calls_of_server ON calls (virtual_server, begun_ms, seq)
    WHERE virtual_server IS NOT NULL AND outcome NOT IN ('answered', 'in_sandbox', 'cancelled');
CREATE INDEX denials_of_server ON events (virtual_server, at_ms, seq)
    WHERE virtual_server IS NOT NULL AND kind IN ('run_refused', 'file_denied');
