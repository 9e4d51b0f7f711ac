"""Binds sockets to paths."""

import socket


def bind(directory):
    path = f"{directory}/{given['token']}"
    socket.socket(socket.AF_UNIX).bind(path)
    os.unlink(path)


attempt("in_workspace", lambda: bind("/workspace" if given["inside"] else "."))
attempt("in_results", lambda: bind("/results" if given["inside"] else "."))
attempt("in_scratch", lambda: bind("/scratch" if given["inside"] else "."))
attempt("in_own_temporary", lambda: bind("/tmp"))
