-- One row a principal or tenant with a quota of CPU time. What is used drains at the rate of the quota.
CREATE TABLE cpu_debts (
    key     TEXT   COLLATE "C" PRIMARY KEY,
    -- As of `at_ms`, in microseconds.
    used_us BIGINT NOT NULL,
    at_ms   BIGINT NOT NULL
);
