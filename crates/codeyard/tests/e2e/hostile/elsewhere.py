"""Tries all operations on files and sockets in a world-writable directory of the host."""

import errno
import os
import socket

directory, file = given["directory"], f"{given['directory']}/file"
PLANTED = f"{directory}/planted"


def attempt(name, action):
    """Prints the result of the attempt."""
    try:
        action()
    except OSError as error:
        print(f"{name}: {errno.errorcode.get(error.errno, error.errno)}", flush=True)
    else:
        print(f"{name}: allowed", flush=True)


def make(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)


def connect(path):
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(path)


def send(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram:
        datagram.sendto(b"x", path)


def send_from_pair(path):
    one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, two:
        one.sendto(b"x", path)


def listen():
    with socket.socket(socket.AF_UNIX) as stream:
        stream.bind(PLANTED)
        os.unlink(PLANTED)


def execute():
    child = os.fork()
    if child == 0:
        try:
            os.execv(f"{directory}/program", ["program"])
        except OSError as error:
            os._exit(error.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise OSError(code, "refused")


open("own", "wb").close()
status = os.stat(file)
attempt("read", lambda: open(file).close())
attempt("list", lambda: os.listdir(directory))
attempt("execute", execute)
attempt("make", lambda: make(PLANTED))
attempt("make_directory", lambda: (os.mkdir(PLANTED), os.rmdir(PLANTED)))
attempt("make_link", lambda: (os.symlink("/etc", PLANTED), os.unlink(PLANTED)))
attempt("make_fifo", lambda: (os.mkfifo(PLANTED), os.unlink(PLANTED)))
attempt("make_socket", listen)
attempt("link_out", lambda: (os.link("own", PLANTED), os.unlink(PLANTED)))
attempt("link_in", lambda: (os.link(file, "linked"), os.unlink("linked")))
attempt("move_out", lambda: (os.rename("own", PLANTED), os.rename(PLANTED, "own")))
attempt("move_in", lambda: (os.rename(file, "moved"), os.rename("moved", file)))
attempt("rename", lambda: (os.rename(file, PLANTED), os.rename(PLANTED, file)))
attempt("remove", lambda: (os.unlink(f"{directory}/spare"), open(f"{directory}/spare", "w").close()))
attempt("write", lambda: os.close(os.open(file, os.O_WRONLY)))
attempt("truncate", lambda: os.truncate(file, status.st_size))
attempt("change_mode", lambda: os.chmod(file, status.st_mode & 0o777))
attempt("change_mode_of_directory", lambda: os.chmod(directory, 0o777))
attempt("touch", lambda: os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns)))
attempt("attribute", lambda: os.listxattr(file))
attempt("connect", lambda: connect(given["stream"]))
attempt("send", lambda: send(given["datagram"]))
attempt("send_from_pair", lambda: send_from_pair(given["datagram"]))
attempt("connect_abstract", lambda: connect("\0" + given["abstract"]))
attempt("make_in_shared_memory", lambda: make("/dev/shm/planted-by-elsewhere"))
attempt("make_in_tmp", lambda: make("/tmp/planted-by-elsewhere"))
attempt("make_in_var_tmp", lambda: make("/var/tmp/planted-by-elsewhere"))
