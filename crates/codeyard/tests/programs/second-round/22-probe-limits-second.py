allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
tries = [
    ("file outside", lambda: tools.filesystem.read_text_file(path="/etc/hostname")),
    ("missing file", lambda: tools.filesystem.read_text_file(path=f"{root}/files/no-such.txt")),
    ("bad SQL", lambda: tools.sqlite.read_query(query="SELECT * FROM no_such_table")),
    ("unknown time zone", lambda: tools.time.get_current_time(timezone="Mars/Olympus")),
    ("unknown commit", lambda: tools.git.git_show(repo_path=f"{root}/repo", revision="0123456789abcdef0123456789abcdef01234567")),
    ("missing sheet", lambda: tools.excel.read_range(path=f"{root}/files/inventory.xlsx", sheet="Nowhere")),
]
for name, call in tries:
    try:
        r = await call()
        print(f"{name:18} | answered | {str(r)[:140]!r}")
    except Exception as e:
        print(f"{name:18} | {type(e).__name__} | {str(e)[:200]!r}")
