import array, errno, fcntl, os, socket

def met(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "allowed"

def connect(name, kind=socket.SOCK_STREAM):
    socket.socket(socket.AF_UNIX, kind).connect(f"/data/{name}")

def pass_descriptor():
    carried = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))]
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b"x"], carried, 0, "/data/mail.sock")

def own_lock(name):
    # Stays open, so that the host could notice it after the run.
    held.append(open(f"/data/{name}"))
    fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)

held = []
[open("/data/free").read(),
 met(lambda: connect("open.sock")), met(lambda: connect("private.sock")),
 met(lambda: connect("mail.sock", socket.SOCK_DGRAM)), met(pass_descriptor),
 met(lambda: os.open("/data/fifo", os.O_WRONLY | os.O_NONBLOCK)),
 met(lambda: own_lock("locked")), met(lambda: own_lock("free")),
 met(lambda: fcntl.fcntl(held[-1], fcntl.F_SETLEASE, fcntl.F_RDLCK)) != "allowed"]
