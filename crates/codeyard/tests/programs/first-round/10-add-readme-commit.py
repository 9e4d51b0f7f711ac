# Request: Add a README.md with a short description to my repository, commit it with a good message, and show me the diff before committing.
repo = "/srv/desk/repo"
await tools.filesystem.write_file(path=f"{repo}/README.md", content="# Demo repository\n\nA small repository with one text file, `a.txt`.\n")
await tools.git.git_add(repo_path=repo, files=["README.md"])
print(await tools.git.git_diff_staged(repo_path=repo))
print(await tools.git.git_commit(repo_path=repo, message="Add README with a short description"))
print(await tools.git.git_log(repo_path=repo, max_count=2))
