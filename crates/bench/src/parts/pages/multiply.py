"""Copies the only run of a virtual server a million times: other users, times and a few other statuses.

Prints the query for the runs of one minute.
"""

import sqlite3
import sys
import time
from datetime import datetime, timezone

RUNS = 1_000_000
# Milliseconds between runs.
APART = 60

database = sqlite3.connect(sys.argv[1])
first_ms = int(time.time() * 1000) - RUNS * APART


def copied(table: str, changed: dict[str, str]) -> tuple[str, str]:
    """Names of a table's columns, and the values of a copy."""
    columns = [column for _, column, *_ in database.execute(f"PRAGMA table_info({table})")]
    columns.remove("seq")
    return ", ".join(columns), ", ".join(changed.get(column, column) for column in columns)


names, values = copied("runs", {
    "id": "'r-' || printf('%012d', n)",
    "principal": "'user' || (n % 1000) || '@example.com'",
    "asked_ms": f"{first_ms} + n * {APART}",
    "status": "CASE n % 2000 WHEN 0 THEN 'failed' ELSE 'completed' END",
})
numbers = f"WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {RUNS})"
run = "SELECT * FROM runs WHERE virtual_server IS NOT NULL ORDER BY seq DESC LIMIT 1"
database.execute(f"INSERT INTO runs ({names}) {numbers} SELECT {values} FROM numbers, ({run})")
names, values = copied("calls", {"run": "'r-' || printf('%012d', n * 10000)"})
call = "SELECT * FROM calls ORDER BY seq DESC LIMIT 1"
database.execute(f"INSERT INTO calls ({names}) {numbers} SELECT {values} FROM numbers, ({call}) WHERE n <= {RUNS} / 10000")
# Runs before the server's creation do not belong to the server.
database.execute("UPDATE virtual_servers SET created_ms = 0")
database.commit()


def moment(seconds: int) -> str:
    """The time this many seconds after the first run."""
    return datetime.fromtimestamp(first_ms // 1000 + seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


print(f"since={moment(6000)}&until={moment(6060)}")
