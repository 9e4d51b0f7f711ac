"""Writes modules into the workspace with names that every program or the interpreter imports."""

NAMES = ("json", "os", "sitecustomize", "usercustomize", "asyncio", "codeyard", "encodings")


def plant():
    for name in NAMES:
        with open(f"{name}.py", "w") as file:
            file.write("raise SystemExit('planted')\n")
        if given["inside"]:
            os.makedirs(f"{os.environ['HOME']}/.local/lib/{name}", exist_ok=True)


attempt("planted", plant)
