"""Looks for the host's root in its own user namespace, and tries to map root there."""

with open("/proc/self/uid_map") as lines:
    look("root_of_host_mapped", any(line.split()[1] == "0" for line in lines))
for name, text in {"uid_map": "0 0 1\n", "gid_map": "0 0 1\n", "setgroups": "allow\n"}.items():
    attempt(f"write_{name}", lambda: open(f"/proc/self/{name}", "w").write(text))
