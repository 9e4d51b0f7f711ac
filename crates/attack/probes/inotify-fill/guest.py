"""Requests a watch of files."""

attempt("inotify_init", lambda: os.close(call(294, 0)))
