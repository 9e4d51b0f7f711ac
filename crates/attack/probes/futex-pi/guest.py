"""Locks priority-inheriting futexes with FUTEX_LOCK_PI (shared and private), FUTEX_TRYLOCK_PI and FUTEX_LOCK_PI2."""

FUTEX = 202
PRIVATE = 128


def lock(operation):
    word = ctypes.c_uint32(0)
    call(FUTEX, ctypes.addressof(word), operation, 0, 0, 0, 0)


attempt("lock", lambda: lock(6))
attempt("lock_private", lambda: lock(6 | PRIVATE))
attempt("try_lock", lambda: lock(8))
attempt("lock_second", lambda: lock(13))
