while True:
    held = []
    try:
        for _ in range(12):
            held.append(bytearray(b"x" * (32 << 20)))
    except MemoryError:
        pass
