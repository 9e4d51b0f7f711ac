"""Questions to the sample database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

_MOST_ROWS = 100_000


def query(sql: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
    """Query the database: the rows that one SELECT statement returns.

    The table users has id, name, email, age, country and active (1 or 0).

    Args:
        sql: SELECT statement, such as "SELECT name FROM users WHERE active = ?"
        parameters: Values for the question marks of the statement
    """
    with closing(_open()) as database:
        database.execute("PRAGMA query_only = ON")
        rows = database.execute(sql, parameters or []).fetchmany(_MOST_ROWS + 1)
    if len(rows) > _MOST_ROWS:
        raise ValueError(f"the statement returns more than {_MOST_ROWS} rows; add a LIMIT")
    return [dict(row) for row in rows]


# Repeated in each database tool, because only the tool's own file exists where it runs.
def _open() -> sqlite3.Connection:
    """The database; the first use creates its table of 1,000 users, 412 of them active."""
    database = sqlite3.connect(_FILE, timeout=10)
    database.row_factory = sqlite3.Row
    if database.execute("PRAGMA user_version").fetchone()[0] == 0:
        database.executescript(_SAMPLE)
    return database


_FILE = "/workspace/sample.db"
_SAMPLE = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS users (
    id INTEGER PRIMARY KEY, name TEXT, email TEXT, age INTEGER, country TEXT, active INTEGER
);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
INSERT OR IGNORE INTO users
SELECT i, printf('User %04d', i), printf('user%04d@example.com', i), 18 + i * 7 % 60,
       substr('DEFRUSJPBR', 1 + i % 5 * 2, 2), i * 412 / 1000 > (i - 1) * 412 / 1000
FROM n;
PRAGMA user_version = 1;
COMMIT;
"""
