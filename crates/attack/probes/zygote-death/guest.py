"""Takes a name that the host can find, and waits."""

import ctypes

PR_SET_NAME = 15
MOST = 15

if given["inside"]:
    ctypes.CDLL(None).prctl(PR_SET_NAME, given["token"][-MOST:].encode(), 0, 0, 0)
say("lives", "allowed")
