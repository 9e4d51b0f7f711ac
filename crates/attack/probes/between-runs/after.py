"""Another session and the host go on meanwhile; the attacker's session is between two runs."""

import time

time.sleep(0.5)
attempt("went_on", start_process)
