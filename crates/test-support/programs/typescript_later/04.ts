// Create a table of orders in the database, fill it with sample orders, and report revenue per customer.
interface RevenueRow {
  customer: string;
  orders: number;
  revenue: number;
}

await tools.sqlite.create_table({
  query: `CREATE TABLE IF NOT EXISTS b2_04_orders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    customer TEXT NOT NULL,
    amount REAL NOT NULL,
    ordered_on TEXT
  )`,
});
await tools.sqlite.write_query({ query: "DELETE FROM b2_04_orders" });

const orders = [
  { customer: "Acme", amount: 120.5, on: "2024-01-05" },
  { customer: "Globex", amount: 75, on: "2024-01-09" },
  { customer: "Acme", amount: 310.25, on: "2024-02-11" },
  { customer: "Initech", amount: 42.1, on: "2024-02-14" },
  { customer: "Globex", amount: 199.99, on: "2024-03-01" },
];
const tuples = orders.map((o) => `('${o.customer}', ${o.amount}, '${o.on}')`).join(", ");
await tools.sqlite.write_query({ query: `INSERT INTO b2_04_orders (customer, amount, ordered_on) VALUES ${tuples}` });

const rows: RevenueRow[] = await tools.sqlite.read_query({
  query: `SELECT customer, COUNT(*) AS orders, ROUND(SUM(amount), 2) AS revenue
          FROM b2_04_orders GROUP BY customer ORDER BY revenue DESC`,
});
rows.forEach((r, i) => console.log(`${i + 1}. ${r.customer}: ${r.orders} orders, $${r.revenue.toFixed(2)}`));
return rows;
