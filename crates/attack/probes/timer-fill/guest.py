"""Creates and deletes one POSIX timer."""


def make():
    made = (ctypes.c_int * 1)()
    call(222, 1, 0, ctypes.addressof(made))
    call(226, made[0])


attempt("timer_create", make)
