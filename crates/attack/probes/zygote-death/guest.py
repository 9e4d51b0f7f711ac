"""Starts a child that the host can find by its command line, and waits for what comes."""

if given["inside"] and os.fork() == 0:
    os.execv("/bin/sleep", [given["token"], "600"])
say("lives", "allowed")
