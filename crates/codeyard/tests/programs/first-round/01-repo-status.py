# Request: Tell me the state of my git repository at /srv/desk/repo: current branch, uncommitted changes, and who made the last commits.
import asyncio
repo = "/srv/desk/repo"
status, log, branches = await asyncio.gather(
    tools.git.git_status(repo_path=repo),
    tools.git.git_log(repo_path=repo, max_count=10),
    tools.git.git_branch(repo_path=repo, branch_type="local"),
)
print("STATUS\n", status)
print("LOG\n", log)
print("BRANCHES\n", branches)
