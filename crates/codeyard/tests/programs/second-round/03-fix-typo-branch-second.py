# (The first program did all but the showing: git_diff compares with the working tree, so the other way round and with unfinished changes.)
allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
repo = f"{root}/repo"
print(await tools.git.git_diff(repo_path=repo, target="master...fix-typos", context_lines=0))
print(await tools.git.git_status(repo_path=repo))
