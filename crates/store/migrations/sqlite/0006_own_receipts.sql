-- Tokens of the receipt itself, which its run's model has read too.
ALTER TABLE receipts ADD COLUMN own BIGINT;
