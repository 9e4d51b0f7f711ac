"""The directories that a program may write, as it sees them."""

WORKSPACE = "/workspace"
RESULTS = "/results"
SCRATCH = "/scratch"

# Files below these are the program's own: their lines belong into a traceback.
OWN = ("/workspace/", "/results/", "/scratch/", "/skills/", "/home/", "/tmp/", "/rw/d/", "/at/")
