-- Threads of earlier runs of the session that were there while the run was under way, and acted with its rights.
ALTER TABLE runs ADD COLUMN earlier_threads BIGINT;
