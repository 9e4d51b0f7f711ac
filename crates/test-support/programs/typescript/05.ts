// task: Make an orders table with some orders and give me the revenue per customer, the highest first.
// expect: three rows: carol 200, alice 150.75, bob 90.5
await tools.sqlite.create_table({
  query: `CREATE TABLE IF NOT EXISTS orders05 (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    customer TEXT NOT NULL,
    amount REAL NOT NULL
  )`,
});
await tools.sqlite.write_query({ query: "DELETE FROM orders05" });

const orders: [string, number][] = [
  ["alice", 120.5],
  ["bob", 75],
  ["alice", 30.25],
  ["carol", 200],
  ["bob", 15.5],
];
const values = orders.map(([c, a]) => `('${c}', ${a})`).join(", ");
await tools.sqlite.write_query({ query: `INSERT INTO orders05 (customer, amount) VALUES ${values}` });

const rows = await tools.sqlite.read_query({
  query: "SELECT customer, SUM(amount) AS revenue FROM orders05 GROUP BY customer ORDER BY revenue DESC",
});
return rows;
