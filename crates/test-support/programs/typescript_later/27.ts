// Test how the systems react to wrong input: unknown time zone, missing file, bad SQL, missing workbook. Collect the messages.
interface Outcome { name: string; ok: boolean; message: string }

const probes: Record<string, () => Promise<unknown>> = {
  timezone: () => tools.time.get_current_time({ timezone: "Mars/Olympus" }),
  file: () => tools.filesystem.read_text_file({ path: "DATA/files/b2_27_missing.txt" }),
  sql: () => tools.sqlite.read_query({ query: "SELECT nothing FROM b2_27_nowhere" }),
  workbook: () => tools.excel.describe_workbook({ path: "DATA/files/b2_27_missing.xlsx" }),
  control: () => tools.everything.echo({ message: "still alive" }),
};

const outcomes: Outcome[] = [];
for (const [name, probe] of Object.entries(probes)) {
  try {
    const value = await probe();
    outcomes.push({ name, ok: true, message: String(typeof value === "object" ? JSON.stringify(value) : value) });
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    outcomes.push({ name, ok: false, message: message.split("\n")[0].slice(0, 120) });
  }
}
const failed = outcomes.filter((o) => !o.ok).length;
console.log(`${failed} of ${outcomes.length} failed`);
return outcomes;
