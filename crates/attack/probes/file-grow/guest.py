"""Appends 256 KiB at a time to one file."""

place = new_directory("grown")


def take(_number):
    with open(f"{place}/file", "ab", buffering=0) as file:
        file.write(bytes(1 << 18))


exceed("grown_beyond_24_mib", take, 97, lambda: os.unlink(f"{place}/file"))
