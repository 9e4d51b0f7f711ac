// Store my contacts (some have apostrophes and no phone), export them as JSON into the workspace, and read the file back.
type Contact = { name: string; phone: string | null; vip: number };
const q = (v: string | null): string => (v === null ? "NULL" : `'${v.replace(/'/g, "''")}'`);

const contacts: Contact[] = [
  { name: "Sinéad O'Brien", phone: null, vip: 1 },
  { name: 'Robert "Bob" D\'Angelo', phone: "+39 055 1234", vip: 0 },
  { name: "Li Wei", phone: "+86 10 5555", vip: 1 },
];
await tools.sqlite.create_table({ query: "CREATE TABLE IF NOT EXISTS b2_21_contacts (name TEXT, phone TEXT, vip INTEGER)" });
await tools.sqlite.write_query({ query: "DELETE FROM b2_21_contacts" });
await tools.sqlite.write_query({
  query: `INSERT INTO b2_21_contacts (name, phone, vip) VALUES ${contacts.map((c) => `(${q(c.name)}, ${q(c.phone)}, ${c.vip})`).join(",")}`,
});

const rows = (await tools.sqlite.read_query({ query: "SELECT name, phone, vip FROM b2_21_contacts ORDER BY name" })) as Contact[];
await writeFile("/workspace/b2_21_contacts.json", JSON.stringify(rows, null, 2));

const back = JSON.parse(String(await readFile("/workspace/b2_21_contacts.json"))) as Contact[];
return {
  total: back.length,
  vips: back.filter((c) => c.vip === 1).map((c) => c.name),
  withoutPhone: back.filter((c) => c.phone === null).map((c) => c.name),
};
