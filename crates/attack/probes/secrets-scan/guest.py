"""Looks for secret words in every small file that it can read, in its environment and in its own memory.

The words arrive with one added to every byte, and the data is shifted in the same way before the comparison.
Otherwise the search would find its own copy of the words.
"""

HIGHER = bytes((byte + 1) % 256 for byte in range(256))
WORDS = {name: bytes(word, "latin-1") for name, word in given["words"].items()}
KEPT = f"{given['token']}-kept"
OWN = {"own_memory": KEPT.encode(), "own_variable": b"HOME", "own_file": b"nsswitch.conf"}
WORDS |= {name: word.translate(HIGHER) for name, word in OWN.items()}
WORDS["earlier"] = f"{given['token']}-earl".encode().translate(HIGHER) + "ier".encode().translate(HIGHER)
LARGEST = 1 << 20
PIECE = 4096
SKIPPED = ("/usr/", "/lib", "/opt/python", "/opt/codeyard/site-packages", "/proc/self/", "/proc/thread-self/")
found = {}
libc.write.restype = ctypes.c_ssize_t
reader, writer = os.pipe()


def search(place, data):
    higher = data.translate(HIGHER)
    for name, word in WORDS.items():
        if word in higher:
            found.setdefault(name, place)


def look_into_files():
    for top, directories, files in os.walk("/"):
        directories[:] = [name for name in directories if not f"{top.rstrip('/')}/{name}/".startswith(SKIPPED)]
        search("the names of files", "\0".join(files).encode("utf-8", "surrogateescape"))
        for name in files:
            path = f"{top}/{name}"
            try:
                if os.path.isfile(path) and not path.endswith("/mem"):
                    with open(path, "rb") as file:
                        search(path, file.read(LARGEST))
            except OSError:
                pass


def memory(address, length):
    """Reads its own memory through a pipe: for an unreadable page the kernel returns an error instead of a signal."""
    data = b""
    while length:
        piece = min(length, PIECE)
        if libc.write(writer, ctypes.c_void_p(address), ctypes.c_size_t(piece)) != piece:
            break
        data += os.read(reader, piece)
        address, length = address + piece, length - piece
    return data


def look_into_memory():
    """Searches each readable mapping without a file; returns the number of bytes searched."""
    with open("/proc/self/maps") as maps:
        lines = maps.read().splitlines()
    looked = 0
    for line in lines:
        fields = line.split(maxsplit=5)
        if "r" not in fields[1] or (len(fields) > 5 and fields[5].startswith(("/", "[v"))):
            continue
        start, end = (int(part, 16) for part in fields[0].split("-"))
        for address in range(start, end, LARGEST):
            # A word may span two pieces.
            data = memory(address, min(LARGEST + PIECE, end - address))
            search("memory", data)
            looked += len(data)
    return looked


search("the environment", repr(dict(os.environ)).encode())
# Outside a session there is too much to read, and the search would find every word.
if given["inside"]:
    look_into_files()
look("memory_was_readable", look_into_memory() > 1 << 20)
for name in WORDS:
    look(name, name in found)
