// How many environment variables does the server see, grouped by the part of the name before the first underscore? Names only.
const raw = await tools.everything.get_env();
const env: Record<string, string> = typeof raw === "string" ? JSON.parse(raw) : raw;
const groups: Record<string, string[]> = {};
for (const name of Object.keys(env).sort()) {
  const prefix = name.includes("_") ? name.split("_", 1)[0] : "(none)";
  (groups[prefix] ??= []).push(name);
}
return Object.entries(groups)
  .map(([prefix, names]) => ({ prefix, count: names.length }))
  .sort((a, b) => b.count - a.count);
