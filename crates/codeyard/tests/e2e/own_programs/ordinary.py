"""Foreign function callbacks, a pool of processes with a queue, a shell that reads a script in /tmp."""

import ctypes
import multiprocessing
import subprocess
import tempfile

numbers = (ctypes.c_int * 3)(3, 1, 2)
order = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
compare = order(lambda a, b: a[0] - b[0])
ctypes.CDLL(None).qsort(numbers, 3, ctypes.sizeof(ctypes.c_int), compare)

fork = multiprocessing.get_context("fork")
with fork.Pool(2) as pool:
    sizes = pool.map(abs, (0, -1, 4))
queue = fork.Queue()
process = fork.Process(target=queue.put, args=(7,))
process.start()
put = queue.get()
process.join()

with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
    script.write("cat <<END | tee /tmp/written\nfrom a script\nEND\n")
    script.flush()
    shell = subprocess.run(["bash", script.name], capture_output=True, text=True, check=True).stdout

try:
    import numpy
    import pandas

    assert pandas.DataFrame({"v": numpy.arange(3)})["v"].sum() == 3
except ImportError:
    pass
{"callback": list(numbers), "processes": sizes, "shell": shell, "queue": put}
