-- A process lives as long as it renews its lease, which is measured by the database's clock: that holds on every machine
-- that writes here, and in every container.
ALTER TABLE processes DROP COLUMN pid_namespace;
ALTER TABLE processes DROP COLUMN started_ticks;
ALTER TABLE processes DROP COLUMN boot;
ALTER TABLE processes ADD COLUMN host TEXT NOT NULL DEFAULT '';
-- Until when it counts as living.
ALTER TABLE processes ADD COLUMN lease_ms BIGINT NOT NULL DEFAULT 0;
-- The newest of its batches of rows that is written, so that none is written twice.
ALTER TABLE processes ADD COLUMN batch BIGINT NOT NULL DEFAULT 0;
-- When the receipt's run was asked for.
ALTER TABLE receipts ADD COLUMN asked_ms BIGINT;
ALTER TABLE receipt_calls ADD COLUMN asked_ms BIGINT;
UPDATE receipts SET asked_ms = (SELECT asked_ms FROM runs WHERE runs.id = receipts.run);
UPDATE receipt_calls SET asked_ms = (SELECT asked_ms FROM runs WHERE runs.id = receipt_calls.run);
