// Create a feature branch named after today's date and confirm that it exists.
const repo_path = "DATA/repo";
const stamp = new Date().toISOString().replace(/[-:T]/g, "").slice(0, 14);
const branch_name = `feature/b2-25-${stamp}-${Math.floor(Math.random() * 1000)}`;

await tools.git.git_create_branch({ repo_path, branch_name });
const listing = await tools.git.git_branch({ repo_path, branch_type: "local" });
const branches = (Array.isArray(listing) ? listing.map(String) : String(listing).split("\n"))
  .map((l) => l.replace(/^\*?\s*/, "").trim())
  .filter(Boolean);
return { created: branches.includes(branch_name), branches: branches.length };
