"""Prints 800 KiB, 8 KiB at a time."""


def take(_number):
    os.write(2, b"x" * (1 << 13))


exceed("printed_800_kib", take, 100)
