# Request: Set up a small lending library in the database (books, members, loans; about 60 loans) and tell me who has overdue books as of 2026-06-30 and how many days.
import ast, random
from datetime import date, timedelta

async def q(sql):
    r = await tools.sqlite.read_query(query=sql)
    return ast.literal_eval(r) if isinstance(r, str) else r

random.seed(1)
await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS books (id INTEGER PRIMARY KEY, title TEXT, author TEXT)")
await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS members (id INTEGER PRIMARY KEY, name TEXT)")
await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS loans (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES books(id), member_id INTEGER REFERENCES members(id), lent TEXT, due TEXT, returned TEXT)")
books = [("Emma", "Austen"), ("Ulysses", "Joyce"), ("Dune", "Herbert"), ("It's Me", "O'Neil"), ("Faust", "Goethe"), ("Kim", "Kipling"), ("Persuasion", "Austen"), ("Momo", "Ende"), ("Ficciones", "Borges"), ("Solaris", "Lem")]
members = ["Ana", "Ben", "Chloé", "Dora", "Emil", "Fatou", "Gus", "Hana"]
s = lambda v: "NULL" if v is None else str(v) if isinstance(v, int) else "'" + v.replace("'", "''") + "'"
values = lambda rows: ", ".join("(" + ", ".join(map(s, r)) + ")" for r in rows)
await tools.sqlite.write_query(query="INSERT INTO books VALUES " + values([(i, *b) for i, b in enumerate(books, 1)]))
await tools.sqlite.write_query(query="INSERT INTO members VALUES " + values(list(enumerate(members, 1))))
loans, free = [], {b: date(2026, 1, 5) for b in range(1, 11)}
while len(loans) < 60:
    b = min(free, key=free.get)
    lent = free[b] + timedelta(days=random.randint(1, 6))
    due = lent + timedelta(days=21)
    back = lent + timedelta(days=random.randint(5, 45))
    loans.append((len(loans) + 1, b, random.randint(1, 8), lent.isoformat(), due.isoformat(), back.isoformat() if back <= date(2026, 6, 30) else None))
    free[b] = back
loans = [l for l in loans if l[3] <= "2026-06-30"]
await tools.sqlite.write_query(query="INSERT INTO loans VALUES " + values(loans))
for t in ("books", "members", "loans"):
    print(t, (await q(f"SELECT COUNT(*) AS n FROM {t}"))[0]["n"])
late = await q("""SELECT m.name, b.title, l.due, CAST(julianday('2026-06-30') - julianday(l.due) AS INTEGER) AS days
    FROM loans l JOIN members m ON m.id = l.member_id JOIN books b ON b.id = l.book_id
    WHERE l.due < '2026-06-30' AND (l.returned IS NULL OR l.returned > '2026-06-30') ORDER BY days DESC""")
print("overdue on 2026-06-30:", len(late))
for r in late:
    print(f"{r['name']}: {r['title']}, due {r['due']}, {r['days']} days")
