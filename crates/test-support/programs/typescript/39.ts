// task: Create a branch feature/report-39 from the current state, list all local branches, and check that the new one does not differ from HEAD.
// expect: branches includes feature/report-39 and the current branch, hasNew true; differs is false when the working tree is clean
const repo_path = "DATA/repo";
const branch_name = "feature/report-39";

try {
  await tools.git.git_create_branch({ repo_path, branch_name });
} catch (err: any) {
  if (!/already exists/i.test(err.message)) throw err;
}

const [list, diff] = await Promise.all([
  tools.git.git_branch({ repo_path, branch_type: "local" }),
  tools.git.git_diff({ repo_path, target: branch_name }),
]);

let current: string | null = null;
const branches = String(list)
  .split("\n")
  .map((line) => {
    const name = line.replace(/^\s*\*?\s*/, "").trim();
    if (/^\s*\*/.test(line)) current = name;
    return name;
  })
  .filter(Boolean);

const differs = /^(diff --git|@@|[+-]{3} )/m.test(String(diff));
return { current, branches, hasNew: branches.includes(branch_name), differs };
