import os

block = b"x" * (1 << 20)
with open("/workspace/block", "wb") as file:
    while True:
        file.seek(0)
        file.write(block)
        file.flush()
        os.fsync(file.fileno())
