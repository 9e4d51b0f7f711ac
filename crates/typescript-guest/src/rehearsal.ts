// Touches what most programs use. It prints nothing and calls no tool.
interface Row {
  id: number;
  name?: string;
}
const rows: Row[] = [1, 2, 3].map((id) => ({ id, name: `row ${id}` }));
class Total {
  #sum = 0;
  add(row: Row): this {
    this.#sum += row.id;
    return this;
  }
  get sum() {
    return this.#sum;
  }
}
const total = rows.reduce((so, row) => so.add(row), new Total());
const text = JSON.stringify({ rows, when: new Date(0).toISOString(), found: /row (\d)/.exec("row 2")?.[1] });
const again = JSON.parse(text) as { rows: Row[] };
const grouped = new Map(again.rows.map(({ id, name }) => [id, name]));
try {
  await Promise.all([Promise.resolve(1), new Promise((resolve) => setTimeout(resolve, 0))]);
  throw new Error("rehearsed");
} catch (error) {
  String(error);
}
[...grouped.keys()].sort((a, b) => b - a);
({ sum: total.sum, tools: typeof tools });
