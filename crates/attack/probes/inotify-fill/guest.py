"""Requests an inotify instance."""

attempt("inotify_init", lambda: os.close(call(294, 0)))
