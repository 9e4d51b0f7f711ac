# Request: In my repository, put a branch `fix-typos` on which every "recieve" in the Markdown files is "receive"; commit, show what differs, and leave the repository on the branch it was on. Don't commit my unfinished changes.
allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
repo = f"{root}/repo"
before = str(await tools.git.git_status(repo_path=repo))
branches = str(await tools.git.git_branch(repo_path=repo, branch_type="local"))
current = next(l[1:].strip() for l in branches.splitlines() if l.strip().startswith("*"))
await tools.git.git_create_branch(repo_path=repo, branch_name="fix-typos", base_branch=current)
await tools.git.git_checkout(repo_path=repo, branch_name="fix-typos")
try:
    found = (await tools.filesystem.search_files(path=repo, pattern="**/*.md", excludePatterns=[".git"])).content
    changed = []
    for p in found.splitlines():
        if not p.endswith(".md"):
            continue
        text = (await tools.filesystem.read_text_file(path=p)).content
        new = text.replace("recieve", "receive").replace("Recieve", "Receive")
        if new != text:
            await tools.filesystem.write_file(path=p, content=new)
            changed.append(p[len(repo) + 1:])
    await tools.git.git_add(repo_path=repo, files=changed)
    await tools.git.git_commit(repo_path=repo, message="Fix the spelling of receive")
finally:
    await tools.git.git_checkout(repo_path=repo, branch_name=current)
print("changed:", changed)
print(await tools.git.git_diff(repo_path=repo, target="fix-typos", context_lines=0))
after = str(await tools.git.git_status(repo_path=repo))
print("back on", current, "- status as before:", before == after)
if before != after:
    print(after)
