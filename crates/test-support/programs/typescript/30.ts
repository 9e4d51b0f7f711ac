// task: Store each commit of the repository as an observation on an entity in the memory graph, and confirm the number stored.
// expect: commits equals stored, both at least 1; sample is like "abc1234: message"
const repo_path = "DATA/repo";
const log: string = await tools.git.git_log({ repo_path, max_count: 20 });

type Commit = { hash: string; message: string };
const commits: Commit[] = log
  .split(/(?=^Commit: )/m)
  .map((block) => ({
    hash: block.match(/^Commit:\s*'?([0-9a-f]{7,40})/m)?.[1] ?? "",
    message: block.match(/^Message:\s*(.*)$/m)?.[1]?.trim() ?? "",
  }))
  .filter((c) => c.hash);

const name = "repo-history-30";
await tools.memory.delete_entities({ entityNames: [name] });
await tools.memory.create_entities({
  entities: [{
    name,
    entityType: "git-history",
    observations: commits.map((c) => `${c.hash.slice(0, 7)}: ${c.message}`),
  }],
});

const { entities: [entity] } = await tools.memory.open_nodes({ names: [name] });
return { commits: commits.length, stored: entity?.observations.length ?? 0, sample: entity?.observations[0] };
