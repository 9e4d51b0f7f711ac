"""An earlier session parses a secret and drops it."""

configuration = json.loads(json.dumps({"token": given["token"] + "-earlier"}))
for _ in range(50):
    str(configuration) * 10
del configuration
