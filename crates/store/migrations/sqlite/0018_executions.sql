-- What an execution log says of a run beyond its record, as a JSON object; null unless one is configured.
ALTER TABLE runs ADD COLUMN execution TEXT;
