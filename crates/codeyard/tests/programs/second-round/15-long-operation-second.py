# (The first answer said nothing of progress; tools/list names a manual: this asks it for the word, then tries what it says.)
from mcp import runtime

text = runtime.manual()
lines = text.splitlines()
hits = [i for i, l in enumerate(lines) if "progress" in l.lower()]
print(len(lines), "lines,", len(hits), "with 'progress'")
for i in hits:
    print(*lines[max(0, i - 2):i + 3], sep="\n")
    print("--")
print("topics:", [n for n in dir(runtime) if not n.startswith("_")])
