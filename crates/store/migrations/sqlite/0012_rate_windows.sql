-- One row a grant of a rate limit. It is removed soon after its window is over.
CREATE TABLE rate_grants (
    seq      INTEGER PRIMARY KEY,
    -- What is limited, such as the runs of a user on a server.
    key      TEXT   NOT NULL,
    at_ms    BIGINT NOT NULL,
    -- From then on, no window reaches back to the grant.
    until_ms BIGINT NOT NULL
);
CREATE INDEX rate_grants_of_key ON rate_grants (key, at_ms);
CREATE INDEX rate_grants_by_end ON rate_grants (until_ms);
