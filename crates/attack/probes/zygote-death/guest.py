"""Sets its process name to the token, so that the host can find the process."""

import ctypes

PR_SET_NAME = 15
MOST = 15

if given["inside"]:
    ctypes.CDLL(None).prctl(PR_SET_NAME, given["token"][-MOST:].encode(), 0, 0, 0)
say("lives", "allowed")
