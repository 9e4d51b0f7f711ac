"""Allocates 256 MiB, 256 KiB at a time, and keeps it."""

held = []


def take(_number):
    held.append(b"x" * (1 << 18))


exceed("taken_256_mib", take, 1024, held.clear)
