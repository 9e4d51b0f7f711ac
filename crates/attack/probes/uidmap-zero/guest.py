"""Reads and writes the map of its own user namespace."""

with open("/proc/self/uid_map") as lines:
    look("root_of_host_mapped", any(line.split()[1] == "0" for line in lines))
attempt("write_map", lambda: open("/proc/self/uid_map", "w").write("0 0 1\n"))
