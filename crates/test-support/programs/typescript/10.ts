// task: Load the app's config file, and when it does not exist yet create it with the defaults; tell me what happened and the config.
// expect: created true (on a first run; false later) and config { theme: "dark", retries: 3, features: ["a","b"] }
interface Config {
  theme: "dark" | "light";
  retries: number;
  features: string[];
}
const path = "DATA/files/config10.json";
const defaults: Config = { theme: "dark", retries: 3, features: ["a", "b"] };

async function loadConfig(): Promise<{ config: Config; created: boolean; reason?: string }> {
  try {
    const { content } = await tools.filesystem.read_text_file({ path });
    return { config: JSON.parse(content) as Config, created: false };
  } catch (err) {
    const reason = err instanceof Error ? err.message : String(err);
    await tools.filesystem.write_file({ path, content: JSON.stringify(defaults, null, 2) });
    return { config: defaults, created: true, reason };
  }
}

const outcome = await loadConfig();
return outcome;
