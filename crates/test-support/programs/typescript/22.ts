// task: Bump the patch version in a manifest file from 1.4.9 to the next one; preview the diff first, then apply it.
// expect: version "1.4.10", and a diff with a removed line with 1.4.9 and an added line with 1.4.10
const path = "DATA/files/manifest22.json";
await tools.filesystem.write_file({
  path,
  content: JSON.stringify({ name: "demo", version: "1.4.9", private: true }, null, 2) + "\n",
});

const before = (await tools.filesystem.read_text_file({ path })).content;
const current = /"version":\s*"(\d+)\.(\d+)\.(\d+)"/.exec(before);
if (!current) throw new Error("no version found");
const [major, minor, patch] = current.slice(1).map(Number);
const next = [major, minor, patch + 1].join(".");

const edits = [{ oldText: current[0], newText: `"version": "${next}"` }];
const preview = await tools.filesystem.edit_file({ path, edits, dryRun: true });
await tools.filesystem.edit_file({ path, edits });

const after = JSON.parse((await tools.filesystem.read_text_file({ path })).content);
return {
  version: after.version,
  diff: preview.content.split("\n").filter((l) => /^[+-]\s/.test(l)),
};
