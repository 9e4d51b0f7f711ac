"""H locks and writes the file on which the attacker holds locks; B cannot see the folder."""

import fcntl

path = f"{given['host']['folder']}/free"
if os.path.exists(path):
    # Another process's lease would delay this.
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_NONBLOCK), "r+b")
    attempt("lock", lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
    attempt("lock_record", lambda: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
