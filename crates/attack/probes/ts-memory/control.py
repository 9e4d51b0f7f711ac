"""Allocates 256 MiB."""

held = []


def take():
    for _ in range(256):
        held.append(b"x" * (1 << 20))
    held.clear()


for name in ("arrays", "typed_arrays", "buffers", "texts", "wide_texts", "objects", "promises", "grown_text"):
    attempt(name, take)
