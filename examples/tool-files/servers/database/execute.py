"""Changes to the sample database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any


def execute(sql: str, parameters: list[Any] | None = None) -> int:
    """Execute one SQL statement that changes the database, such as INSERT, UPDATE, DELETE or CREATE TABLE.

    Args:
        sql: The statement
        parameters: Values for the question marks of the statement

    Returns:
        The number of rows that it changed
    """
    with closing(_open()) as database, database:
        return max(database.execute(sql, parameters or []).rowcount, 0)


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
