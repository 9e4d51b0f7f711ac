"""Makes every system call of a list of numbers, without arguments, and prints each error with its count."""

answers = {}
for number in given["numbers"]:
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
    answer = errno.errorcode[ctypes.get_errno()] if result == -1 else "allowed"
    answers.setdefault(answer, []).append(number)
for answer, numbers in answers.items():
    print(f"{answer}: {' '.join(map(str, numbers))}")
