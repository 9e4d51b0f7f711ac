"""Deletes, renames and overwrites everything within reach. Refuses to run outside of a session."""

import os
import shutil

if os.uname().nodename != "sandbox" or os.getpid() != 1 or not os.path.isdir("/opt/codeyard"):
    raise SystemExit("this is no session")

places = sorted(os.listdir("/"))


def attempt(action, path):
    try:
        action(path)
    except OSError:
        pass


for top, directories, files in os.walk("/"):
    if top in ("/proc", "/k/proc", "/rw/d"):
        directories[:] = []
        continue
    # Part of the read-only trees is enough: they have tens of thousands of files.
    del files[4:]
    if top != "/":
        del directories[4:]
    for name in files:
        attempt(os.unlink, f"{top}/{name}")
    for name in directories:
        attempt(os.rmdir, f"{top}/{name}")
        attempt(lambda path: os.rename(path, "/tmp/taken"), f"{top}/{name}")
for name in os.listdir("/rw/d"):
    shutil.rmtree(f"/rw/d/{name}")
for place in places:
    attempt(os.unlink, f"/{place}")
    attempt(lambda path: os.rename(path, f"{path}.old"), f"/{place}")
    attempt(lambda path: os.symlink("/etc", path), f"/{place}.new")
print(f"places_left: {sorted(os.listdir('/')) == places}")
print(f"own_files_left: {os.listdir('/rw/d')}")
