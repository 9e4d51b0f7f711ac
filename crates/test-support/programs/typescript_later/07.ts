// Summarise the history of the repository: how many commits per author, and the latest message.
const log = await tools.git.git_log({ repo_path: "DATA/repo", max_count: 50 });
const text: string = typeof log === "string" ? log : JSON.stringify(log, null, 2);

const authors = [...text.matchAll(/Author:\s*(.+)/g)].map((m) => m[1].replace(/<[^>]*>|[",]/g, "").trim());
const messages = [...text.matchAll(/Message:\s*(.+)/g)].map((m) => m[1].trim());

const perAuthor = authors.reduce<Record<string, number>>((acc, a) => {
  acc[a] = (acc[a] ?? 0) + 1;
  return acc;
}, {});
return { commits: authors.length, perAuthor, latest: messages[0] ?? null };
