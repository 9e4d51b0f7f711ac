-- What ran since a time is found without looking at all that ever ran.
CREATE INDEX runs_by_time ON runs (asked_ms);
