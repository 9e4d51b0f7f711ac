// task: Who committed to the repository, and how many commits did each author make in the last 50 commits?
// expect: an object with total (at least 1) and byAuthor, a list of author and count whose counts add up to total
const repo_path = "DATA/repo";
const log = await tools.git.git_log({ repo_path, max_count: 50 });

const byAuthor: Record<string, number> = {};
for (const line of log.split("\n")) {
  const m = line.match(/^\s*Author:\s*(.+?)\s*$/);
  if (!m) continue;
  const author = m[1].replace(/^['"<]|['">]$/g, "");
  byAuthor[author] = (byAuthor[author] || 0) + 1;
}

const total = Object.values(byAuthor).reduce((a, b) => a + b, 0);
return {
  total,
  byAuthor: Object.entries(byAuthor)
    .map(([author, count]) => ({ author, count }))
    .sort((a, b) => b.count - a.count),
};
