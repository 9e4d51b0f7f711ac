# Request: branch chore/cleanup, commit shop/report.py and NOTES.txt separately, show the log and that the tree is clean
repo = "/srv/desk/repo"
print(await tools.git.git_create_branch(repo_path=repo, branch_name="chore/cleanup"))
print(await tools.git.git_checkout(repo_path=repo, branch_name="chore/cleanup"))
print(await tools.git.git_reset(repo_path=repo))
for file, message in (("shop/report.py", "Show the euro sign"), ("NOTES.txt", "Add notes")):
    print(await tools.git.git_add(repo_path=repo, files=[file]))
    print(await tools.git.git_commit(repo_path=repo, message=message))
print(await tools.git.git_log(repo_path=repo, max_count=5))
print(await tools.git.git_status(repo_path=repo))
