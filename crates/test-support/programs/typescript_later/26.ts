// Add a changelog file to the repository, show me what would be committed, then unstage it again.
const repo_path = "DATA/repo";
const file = "b2_26_CHANGELOG.md";
const asText = (v: unknown): string => (typeof v === "string" ? v : JSON.stringify(v));

let written = false;
try {
  await tools.filesystem.write_file({ path: `${repo_path}/${file}`, content: `# Changelog\n\n- ${new Date().toDateString()}: first entry\n` });
  written = true;
} catch (e: any) {
  const allowed = await tools.filesystem.list_allowed_directories();
  console.log(`Cannot write into the repository (${e.message}); allowed: ${allowed.content}`);
}

const before = asText(await tools.git.git_status({ repo_path }));
if (!written) return { written, status: before };

await tools.git.git_add({ repo_path, files: [file] });
const staged = asText(await tools.git.git_diff_staged({ repo_path, context_lines: 2 }));
await tools.git.git_reset({ repo_path });
const added = staged.split("\n").filter((l) => l.startsWith("+") && !l.startsWith("+++"));
return { written, untrackedBefore: before.includes(file), addedLines: added.length };
