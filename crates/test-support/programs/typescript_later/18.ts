// Change the port in my config file from 8080 to 9090; show me the diff first, then apply it.
const path = "DATA/files/b2_18_server.conf";
await tools.filesystem.write_file({ path, content: "host = localhost\nport = 8080\ndebug = false\n" });

const edits = [{ oldText: "port = 8080", newText: "port = 9090" }];
const preview = await tools.filesystem.edit_file({ path, edits, dryRun: true });
const changed = preview.content.split("\n").filter((l) => /^[+-](?![+-])/.test(l));
console.log(changed.join("\n"));

await tools.filesystem.edit_file({ path, edits });
const { content } = await tools.filesystem.read_text_file({ path });
const config = Object.fromEntries(
  content
    .split("\n")
    .filter((line) => line.includes("="))
    .map((line) => line.split("=").map((s) => s.trim()) as [string, string]),
);
return config;
