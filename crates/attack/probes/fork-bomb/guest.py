"""Forks four hundred times and keeps all children."""

import signal
import time

children = []


def take(_number):
    child = os.fork()
    if child == 0:
        time.sleep(30)
        os._exit(0)
    children.append(child)


def give_back():
    while children:
        os.kill(children[-1], signal.SIGKILL)
        os.waitpid(children.pop(), 0)


exceed("forked_hundreds", take, 400, give_back)
