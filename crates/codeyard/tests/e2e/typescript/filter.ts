interface Row {
  id: number;
  status: "pending" | "done";
  amount: number;
}
const rows: Row[] = Array.from({ length: 10_000 }, (_, id) => ({
  id,
  status: id % 3 === 0 ? "pending" : "done",
  amount: (id * 7919) % 1000,
}));
const pending = rows.filter((row) => row.status === "pending");
console.log(`Found ${pending.length} pending orders`);
return pending.sort((a, b) => b.amount - a.amount || a.id - b.id).slice(0, 5);
