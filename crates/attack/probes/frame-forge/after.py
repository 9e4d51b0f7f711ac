"""Starts a process and a thread."""

attempt("fork", start_process)
attempt("thread", start_thread)
