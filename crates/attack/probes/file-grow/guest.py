"""Appends more than 24 MiB to one file, 256 KiB at a time."""

place = new_directory("grown")


def take(_number):
    with open(f"{place}/file", "ab", buffering=0) as file:
        file.write(bytes(1 << 18))


exceed("grown_beyond_24_mib", take, 97, lambda: os.unlink(f"{place}/file"))
