# Request: Create a branch "feature/changelog" from master, add a CHANGELOG.md there and commit it, go back to master, and show me the difference between the two branches.
repo = "/srv/desk/repo"
print(await tools.git.git_create_branch(repo_path=repo, branch_name="feature/changelog", base_branch="master"))
print(await tools.git.git_checkout(repo_path=repo, branch_name="feature/changelog"))
await tools.filesystem.write_file(path=f"{repo}/CHANGELOG.md", content="# Changelog\n\n## 0.1.0\n- First version\n")
await tools.git.git_add(repo_path=repo, files=["CHANGELOG.md"])
print(await tools.git.git_commit(repo_path=repo, message="Add changelog"))
print(await tools.git.git_checkout(repo_path=repo, branch_name="master"))
print(await tools.git.git_diff(repo_path=repo, target="feature/changelog"))
